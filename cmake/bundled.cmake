# What `make dist` gives out: the program and its libraries once more, of the same objects, linked with the static forms of the libraries that they
# stand on, so that they need the C library alone. Target `bundled`, in build/bundled; tools/pack.sh makes the tarball. Names of those libraries stay
# inside: a CUDA program may have libraries of the same names, in other versions.
add_custom_target(bundled)
function(redoubt_bundled target name folder)
  set_target_properties(${target} PROPERTIES BUNDLED ON EXCLUDE_FROM_ALL ON OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bundled/${folder} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bundled/${folder})
  add_dependencies(bundled ${target})
endfunction()

add_executable(bundled_redoubt src/cli/main.c)
target_link_libraries(bundled_redoubt PRIVATE cli)
target_link_options(bundled_redoubt PRIVATE -Wl,--as-needed)
redoubt_bundled(bundled_redoubt redoubt bin)

libredoubt_library(bundled_libredoubt)
redoubt_bundled(bundled_libredoubt redoubt lib)

foreach(generation 13 12 11)
  cudart_library(bundled_cudart${generation} ${generation})
  redoubt_bundled(bundled_cudart${generation} cudart.so.${cudart_version_${generation}} lib/redoubt/cudart)
endforeach()

# For the list of what is inside (tools/sbom.py): the archives, and what else is taken from packages.
set(inside "")
foreach(library ${dependencies})
  string(APPEND inside "${${library}_archives};")
endforeach()
string(REPLACE ";" "\n" inside "${inside}${LIBIBERTY}")
file(WRITE ${CMAKE_BINARY_DIR}/generated/bundled.txt "${inside}\n${REDOUBT_VEGA}\n")
