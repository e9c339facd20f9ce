# The library for other programs: build/libredoubt.so.0, of which src/lib/redoubt.h is the interface. Nothing but redoubt_* is seen of it.
redoubt_library(api lib explain settle)
set_source_files_properties(src/lib/machine.c PROPERTIES COMPILE_DEFINITIONS REDOUBT_VERSION="${PROJECT_VERSION}")
set(map ${CMAKE_BINARY_DIR}/generated/libredoubt.map)
write_text(${map} "REDOUBT_1 {\n  global: redoubt_*;\n  local: *;\n};\n")
function(libredoubt_library target)
  add_library(${target} SHARED $<TARGET_OBJECTS:api>)
  target_link_libraries(${target} PRIVATE explain settle)
  target_link_options(${target} PRIVATE -Wl,--as-needed -Wl,--version-script=${map} -Wl,-Bsymbolic
    $<$<NOT:$<BOOL:${REDOUBT_SANITIZE}>>:-Wl,-z,defs>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME redoubt VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS ${map})
endfunction()
libredoubt_library(libredoubt)
