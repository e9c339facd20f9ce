# The CUDA runtime library: build/cudart/libcudart.so.{13,12,11.0}, one build linked once per generation of the
# interface: they differ in soname, symbol versions and the files named generation_*.c.
# `redoubt run -- APPLICATION` puts them before the program.
file(GLOB cudart_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cudart/*.c)
list(FILTER cudart_sources EXCLUDE REGEX "/test_[^/]*\\.c$|/fuzz_[^/]*\\.c$")
set(cudart_by_generation ${cudart_sources})
list(FILTER cudart_by_generation INCLUDE REGEX "/generation_[^/]*\\.c$")
list(REMOVE_ITEM cudart_sources ${cudart_by_generation})
add_library(cudart_objects OBJECT ${cudart_sources})
set(cudart_version_13 13)
set(cudart_version_12 12)
set(cudart_version_11 11.0)
function(cudart_library target generation)
  set(version ${cudart_version_${generation}})
  set(map ${CMAKE_BINARY_DIR}/generated/libcudart.so.${version}.map)
  write_text(${map} "libcudart.so.${version} {\n  global: cuda*; __cuda*; cu[A-Z]*;\n  local: *;\n};\n")
  add_library(${target} SHARED ${cudart_by_generation} $<TARGET_OBJECTS:cudart_objects>)
  target_compile_definitions(${target} PRIVATE CUDART_GENERATION=${generation})
  target_link_libraries(${target} PRIVATE app device zstd lz4)
  target_link_options(${target} PRIVATE -Wl,--as-needed -Wl,--version-script=${map} -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,-soname=libcudart.so.${version}
    $<$<NOT:$<BOOL:${REDOUBT_SANITIZE}>>:-Wl,-z,defs>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME cudart.so.${version} SUFFIX "" NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/cudart)
endfunction()
foreach(generation 13 12 11)
  set(target cudart${generation})
  cudart_library(${target} ${generation})
  if(REDOUBT_TESTS)
    add_executable(generation${generation} tests/cuda/generation.c)
    target_compile_definitions(generation${generation} PRIVATE GENERATION=${generation})
    target_link_libraries(generation${generation} PRIVATE ${target})
    add_test(NAME cudart/generation${generation} COMMAND redoubt run -- $<TARGET_FILE:generation${generation}>)
  endif()
endforeach()

# Programs that also use the driver's interface load libcuda.so.1: the same library under that name.
add_custom_command(TARGET cudart13 POST_BUILD VERBATIM
  COMMAND ${CMAKE_COMMAND} -E create_symlink libcudart.so.13 ${CMAKE_BINARY_DIR}/cudart/libcuda.so.1)

# Programs with the static runtime: a library for the dynamic linker that leads the runtime's functions here. It is loaded beside the
# program, so that sanitizers, which want to be first in a process, stay out of it.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  enable_language(ASM)
  file(GLOB static_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cudart/static/*.c ${CMAKE_SOURCE_DIR}/src/cudart/static/*.S)
  add_library(redoubt-static SHARED ${static_sources})
  target_compile_options(redoubt-static PRIVATE -fno-sanitize=all)
  target_link_options(redoubt-static PRIVATE -fno-sanitize=all -Wl,-z,defs)
  set_target_properties(redoubt-static PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/cudart)
  add_dependencies(cudart13 redoubt-static)
endif()

# A program that looks at no error, where nothing can run.
if(REDOUBT_TESTS)
  add_executable(unchecked tests/cuda/unchecked.c)
  target_link_libraries(unchecked PRIVATE cudart13)
  add_test(NAME cudart/unchecked
    COMMAND ${CMAKE_SOURCE_DIR}/tests/cuda/unchecked.sh $<TARGET_FILE:redoubt> $<TARGET_FILE:unchecked> ${CMAKE_SOURCE_DIR}/tests/cuda/fatbin)
endif()

# Tests and fuzz targets beside the code: the library's objects, linked in.
if(REDOUBT_FUZZ)
  file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cudart/fuzz_*.c)
  foreach(target ${targets})
    get_filename_component(stem ${target} NAME_WE)
    add_executable(${stem} ${target} ${cudart_by_generation} $<TARGET_OBJECTS:cudart_objects>)
    target_compile_definitions(${stem} PRIVATE CUDART_GENERATION=13)
    target_link_libraries(${stem} PRIVATE app device zstd lz4 -fsanitize=fuzzer)
    add_dependencies(fuzzers ${stem})
  endforeach()
endif()
if(REDOUBT_TESTS)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cudart/test_*.c)
  foreach(test ${tests})
    get_filename_component(stem ${test} NAME_WE)
    add_executable(cudart_${stem} ${test} ${cudart_by_generation} $<TARGET_OBJECTS:cudart_objects>)
    target_compile_definitions(cudart_${stem} PRIVATE CUDART_GENERATION=13)
    target_link_libraries(cudart_${stem} PRIVATE app device zstd lz4 cmocka)
    add_test(NAME cudart/${stem} COMMAND cudart_${stem} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endforeach()
endif()
