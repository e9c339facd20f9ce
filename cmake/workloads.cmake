# Workloads: every workloads/NAME/ with workload.c (defines workload_NAME) and kernel.ptx (embedded
# as NAME_ptx) becomes a row of workloads[] and workload_ptx[] (src/device/workload.h). Every workloads/g80/NAME/ with workload.c
# (defines workload_g80_NAME) and kernel.sass becomes a row of g80_workloads[] and g80_workload_sass[].
file(GLOB workload_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workloads/*/workload.c)
file(GLOB g80_workload_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workloads/g80/*/workload.c)
add_library(workloads STATIC ${CMAKE_BINARY_DIR}/generated/workload_table.c ${CMAKE_SOURCE_DIR}/workloads/sets.c)
target_include_directories(workloads PRIVATE ${CMAKE_SOURCE_DIR}/workloads/g80)

# Appends to the rows of one table; `prefix` goes before the names in C.
macro(add_workloads files prefix kernel)
  set(declarations "")
  set(rows "")
  set(texts "")
  set(names "")
  set(total 0)
  foreach(file ${files})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(folder_name ${folder} NAME)
    set(name ${prefix}${folder_name})
    if(EXISTS ${folder}/${kernel})
      target_sources(workloads PRIVATE ${file})
      embed_text(workloads ${folder}/${kernel} ${name}_kernel)
      string(APPEND declarations "extern const Workload workload_${name};\nextern const char ${name}_kernel[];\n")
      string(APPEND rows "    &workload_${name},\n")
      string(APPEND texts "    ${name}_kernel,\n")
      list(APPEND names ${folder_name})
      math(EXPR total "${total} + 1")
    endif()
  endforeach()
endmacro()

add_workloads("${workload_files}" "" kernel.ptx)
set(workload_names ${names})
string(CONFIGURE "@declarations@
const Workload *const workloads[] = {
@rows@    NULL,
};
const char *const workload_ptx[] = {
@texts@    NULL,
};
const uint32_t workload_count = @total@;
" ptx_table @ONLY)
add_workloads("${g80_workload_files}" g80_ kernel.sass)
set(g80_workload_names ${names})
write_text(${CMAKE_BINARY_DIR}/generated/workload_table.c
"#include \"device/workload.h\"
@ptx_table@
@declarations@
const Workload *const g80_workloads[] = {
@rows@    NULL,
};
const char *const g80_workload_sass[] = {
@texts@    NULL,
};
const uint32_t g80_workload_count = @total@;
")
# The table and the helpers (src/device/workload.c) need each other.
target_link_libraries(workloads PUBLIC device m)
target_link_libraries(device PUBLIC workloads)
