# Writes which commit is built into a header, only if it is another than before: cmake -DSOURCE=folder -DOUTPUT=commit.h -P commit.cmake
# "unknown" outside a checkout. No date: the same commit gives the same bytes.
cmake_minimum_required(VERSION 3.18...3.25)
# COMMIT: it is known already, where the source lies without its history.
set(commit unknown)
find_program(GIT git)
if(COMMIT)
  set(commit ${COMMIT})
elseif(GIT AND EXISTS ${SOURCE}/.git)  # not the checkout of somebody else, above this folder
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --tags --abbrev=12
    OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND found MATCHES "^[A-Za-z0-9._/-]+$")
    set(commit ${found})
  endif()
endif()
set(text "#define REDOUBT_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
