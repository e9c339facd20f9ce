# Built-in studies: every studies/NAME/study.ini (and beyond.ini), and the CSV files beside it, become rows of builtin_study_files[] (src/study/study.h).
file(GLOB study_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/studies/*/*.ini ${CMAKE_SOURCE_DIR}/studies/*/*.csv)
set(declarations "")
set(rows "")
foreach(file ${study_files})
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(study ${folder} NAME)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER "study_${study}_${name}" symbol)
  embed_text(study ${file} ${symbol})
  string(APPEND declarations "extern const char ${symbol}[];\n")
  string(APPEND rows "    {\"${study}\", \"${name}\", ${symbol}},\n")
endforeach()
write_text(${CMAKE_BINARY_DIR}/generated/builtin_studies.c
"#include \"study/study.h\"
@declarations@
const BuiltinStudyFile builtin_study_files[] = {
@rows@};
const uint32_t builtin_study_file_count = COUNT_OF(builtin_study_files);
")
target_sources(study PRIVATE ${CMAKE_BINARY_DIR}/generated/builtin_studies.c)
