# Fragment programs that come with the command: every workloads/fragment/NAME.fp becomes a row of builtin_shaders[] (src/cli/run.h).
file(GLOB shader_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workloads/fragment/*.fp)
set(declarations "")
set(rows "")
foreach(file ${shader_files})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER "shader_${name}" symbol)
  embed_text(cli ${file} ${symbol})
  string(APPEND declarations "extern const char ${symbol}[];\n")
  string(APPEND rows "    {\"${name}\", ${symbol}},\n")
endforeach()
write_text(${CMAKE_BINARY_DIR}/generated/builtin_shaders.c
"#include \"cli/run.h\"
@declarations@
const BuiltinShader builtin_shaders[] = {
@rows@};
const uint32_t builtin_shader_count = COUNT_OF(builtin_shaders);
")
target_sources(cli PRIVATE ${CMAKE_BINARY_DIR}/generated/builtin_shaders.c)
