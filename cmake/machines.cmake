# Built-in machines: every machines/*.ini becomes a row of builtin_machines[] (src/config/config.h).
file(GLOB machine_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/machines/*.ini)
set(declarations "")
set(rows "")
foreach(file ${machine_files})
  get_filename_component(name ${file} NAME_WE)
  string(MAKE_C_IDENTIFIER ${name} symbol)
  embed_text(config ${file} machine_${symbol}_ini)
  string(APPEND declarations "extern const char machine_${symbol}_ini[];\n")
  string(APPEND rows "    {\"${name}\", machine_${symbol}_ini},\n")
endforeach()
write_text(${CMAKE_BINARY_DIR}/generated/builtin_machines.c
"#include \"config/config.h\"
@declarations@
const BuiltinMachine builtin_machines[] = {
@rows@};
const uint32_t builtin_machine_count = COUNT_OF(builtin_machines);
")
target_sources(config PRIVATE ${CMAKE_BINARY_DIR}/generated/builtin_machines.c)
