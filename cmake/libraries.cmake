# The libraries beside the CUDA runtime, in build/cudart with it: libcublas.so.{13,12,11}, libcublasLt.so.{13,12,11}, libcurand.so.10.
# They find the runtime library in their own folder when they are first used, so that they need none by name.

# cuda_library(target soname names generation sources...): `names` are the names that it exports.
function(cuda_library target soname names generation)
  set(map ${CMAKE_BINARY_DIR}/generated/${soname}.map)
  write_text(${map} "@soname@ {\n  global: @names@;\n  local: *;\n};\n")
  add_library(${target} SHARED ${ARGN})
  target_compile_definitions(${target} PRIVATE CUBLAS_GENERATION=${generation})
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic -Wl,-soname=${soname}
    $<$<NOT:$<BOOL:${REDOUBT_SANITIZE}>>:-Wl,-z,defs>)
  string(REGEX REPLACE "^lib" "" output ${soname})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} SUFFIX "" NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/cudart)
  add_dependencies(cudart13 ${target})
endfunction()

# One build, linked once for each generation; handle.c alone knows which it is.
set(folder ${CMAKE_SOURCE_DIR}/src/libraries)
file(GLOB blas_sources CONFIGURE_DEPENDS ${folder}/blas/*.c)
list(REMOVE_ITEM blas_sources ${folder}/blas/handle.c)
add_library(library_objects OBJECT ${folder}/cuda.c)
add_library(blas_objects OBJECT ${blas_sources})
embed_text(blas_objects ${folder}/blas/kernels.ptx blas_ptx)
add_library(blaslt_objects OBJECT ${folder}/blaslt/absent.c)
set(cuda_libraries "")
foreach(generation 13 12 11)
  cuda_library(cublas${generation} libcublas.so.${generation} "cublas*" ${generation}
    ${folder}/blas/handle.c $<TARGET_OBJECTS:blas_objects> $<TARGET_OBJECTS:library_objects>)
  cuda_library(cublaslt${generation} libcublasLt.so.${generation} "cublasLt*" ${generation}
    $<TARGET_OBJECTS:blaslt_objects> $<TARGET_OBJECTS:library_objects>)
  set_target_properties(cublaslt${generation} PROPERTIES LINKER_LANGUAGE C)
  list(APPEND cuda_libraries cublas${generation} cublaslt${generation})
endforeach()
# One for all generations: it takes the runtime that the program has.
file(GLOB rand_sources CONFIGURE_DEPENDS ${folder}/rand/*.c)
cuda_library(curand10 libcurand.so.10 "curand*" 13 ${rand_sources} $<TARGET_OBJECTS:library_objects>)
embed_text(curand10 ${folder}/rand/kernels.ptx rand_ptx)
target_link_libraries(curand10 PRIVATE m)
list(APPEND cuda_libraries curand10)

# Programs with prototypes of their own, linked as CUDA programs are: no toolkit is needed. Headers of a toolkit are used in nvcc.sh.
if(REDOUBT_TESTS)
  foreach(generation 13 12 11)
    add_executable(blas${generation} tests/cuda/libraries/blas.c)
    set(many 100)  # a batch that needs two launches: once
    if(generation EQUAL 13 AND NOT REDOUBT_SANITIZE)
      set(many 65540)
    endif()
    target_compile_definitions(blas${generation} PRIVATE GENERATION=${generation} MANY=${many})
    target_link_libraries(blas${generation} PRIVATE cublas${generation} cudart${generation} m)
    add_test(NAME libraries/blas${generation} COMMAND redoubt run -- $<TARGET_FILE:blas${generation}>)
  endforeach()
  add_executable(gemm13 tests/cuda/libraries/gemm.c)
  target_link_libraries(gemm13 PRIVATE cublas13 cudart13)
  add_test(NAME libraries/faults COMMAND ${CMAKE_SOURCE_DIR}/tests/cuda/libraries/faults.sh $<TARGET_FILE:redoubt> $<TARGET_FILE:gemm13>
    $<IF:$<BOOL:${REDOUBT_SANITIZE}>,120,240>)
  add_test(NAME libraries/nvcc COMMAND ${CMAKE_SOURCE_DIR}/tests/cuda/libraries/nvcc.sh $<TARGET_FILE:redoubt>)
  set_tests_properties(libraries/nvcc PROPERTIES SKIP_RETURN_CODE 77)
  foreach(generation 13 11)
    add_executable(rand${generation} tests/cuda/libraries/rand.c)
    target_link_libraries(rand${generation} PRIVATE curand10 cudart${generation} m)
    add_test(NAME libraries/rand${generation} COMMAND redoubt run -- $<TARGET_FILE:rand${generation}>)
  endforeach()
endif()
