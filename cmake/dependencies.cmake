# The libraries that Redoubt stands on. Each becomes a target of the name that the lists of libraries use: found by pkg-config (PKG_CONFIG_PATH
# reaches those of a user), or named with its package where it is missing, all in one message.
# A target with the property BUNDLED is linked with their static forms instead: what `make dist` gives out needs nothing but the C library.
find_package(PkgConfig)
find_package(Threads REQUIRED)
set(missing "")
set(dependencies "")
macro(note_missing what debian fedora arch)
  string(APPEND missing "\n  ${what}: Debian, Ubuntu: ${debian}; Fedora, Rocky: ${fedora}; Arch: ${arch}")
endmacro()

# dependency(target module debian fedora arch [static libraries that its own static form needs...]): `module` is pkg-config's name.
macro(dependency target module debian fedora arch)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${target}_found QUIET IMPORTED_TARGET ${module})
  endif()
  if(${target}_found_FOUND)
    set(${target}_archives "")
    list(GET ${target}_found_LIBRARIES 0 first)
    foreach(archive ${first} ${ARGN})
      find_library(${archive}_archive lib${archive}.a HINTS ${${target}_found_LIBRARY_DIRS} ${${target}_found_LIBDIR})
      mark_as_advanced(${archive}_archive)
      list(APPEND ${target}_archives ${${archive}_archive})
    endforeach()
    list(APPEND dependencies ${target})
    add_library(${target} INTERFACE IMPORTED)
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${${target}_found_INCLUDE_DIRS}"
      INTERFACE_LINK_LIBRARIES "$<IF:$<BOOL:$<TARGET_PROPERTY:BUNDLED>>,${${target}_archives};Threads::Threads;${CMAKE_DL_LIBS};m,PkgConfig::${target}_found>")
  else()
    note_missing("${module}" ${debian} ${fedora} ${arch})
  endif()
endmacro()

if(NOT PKG_CONFIG_FOUND)
  note_missing(pkg-config pkg-config pkgconf-pkg-config pkgconf)
endif()
dependency(sqlite3 sqlite3 libsqlite3-dev sqlite-devel sqlite)
dependency(jansson jansson libjansson-dev jansson-devel jansson)
dependency(inih inih libinih-dev inih-devel libinih)
dependency(zstd libzstd libzstd-dev libzstd-devel zstd)
dependency(lz4 liblz4 liblz4-dev lz4-devel lz4)
dependency(xxhash libxxhash libxxhash-dev xxhash-devel xxhash)
dependency(png libpng libpng-dev libpng-devel libpng z)
if(missing)
  message(FATAL_ERROR "These libraries are missing, or pkg-config does not know them:${missing}\n"
    "On Debian as root 'make setup' installs them. Libraries of your own: set PKG_CONFIG_PATH to the folders of their .pc files. "
    "Without any of this: unpack the tarball (docs/install.md).\n")
endif()

# SQLite, the CUDA libraries and the tests load and wait; before glibc 2.34 these are libraries of their own.
link_libraries(Threads::Threads ${CMAKE_DL_LIBS})

# Names of C++ kernels are shown as they were written with libiberty, which has no .pc file and is not everywhere.
find_path(LIBIBERTY_INCLUDE libiberty/demangle.h)
find_library(LIBIBERTY iberty)
mark_as_advanced(LIBIBERTY_INCLUDE LIBIBERTY)
add_library(iberty INTERFACE IMPORTED)
if(LIBIBERTY_INCLUDE AND LIBIBERTY)
  set_target_properties(iberty PROPERTIES INTERFACE_LINK_LIBRARIES ${LIBIBERTY} INTERFACE_INCLUDE_DIRECTORIES ${LIBIBERTY_INCLUDE})
  set_source_files_properties(src/base/symbol.c PROPERTIES COMPILE_DEFINITIONS HAS_LIBIBERTY)
else()
  message(STATUS "No libiberty: names of C++ kernels are shown as the compiler wrote them. Debian, Ubuntu: libiberty-dev")
endif()
