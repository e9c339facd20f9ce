# Workloads: every workloads/NAME/ with workload.c (defines workload_NAME) and kernel.ptx (embedded
# as NAME_ptx) becomes a row of workloads[] and workload_ptx[] (src/device/workload.h).
file(GLOB workload_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workloads/*/workload.c)
set(declarations "")
set(rows "")
set(texts "")
set(workload_names "")
add_library(workloads STATIC ${CMAKE_BINARY_DIR}/generated/workload_table.c ${CMAKE_SOURCE_DIR}/workloads/sets.c)
foreach(file ${workload_files})
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  if(EXISTS ${folder}/kernel.ptx)
    target_sources(workloads PRIVATE ${file})
    embed_text(workloads ${folder}/kernel.ptx ${name}_ptx)
    list(APPEND workload_names ${name})
    string(APPEND declarations "extern const Workload workload_${name};\nextern const char ${name}_ptx[];\n")
    string(APPEND rows "    &workload_${name},\n")
    string(APPEND texts "    ${name}_ptx,\n")
  endif()
endforeach()
list(LENGTH workload_names workload_total)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/workload_table.c @ONLY CONTENT
"#include \"device/workload.h\"
@declarations@
const Workload *const workloads[] = {
@rows@    NULL,
};
const char *const workload_ptx[] = {
@texts@    NULL,
};
const uint32_t workload_count = @workload_total@;
")
# The table and the helpers (src/device/workload.c) need each other.
target_link_libraries(workloads PUBLIC device m)
target_link_libraries(device PUBLIC workloads)
