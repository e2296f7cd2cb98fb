# Most of the compile time of a file that uses MLIR is spent on MLIR's headers (10 s of 13), so all these
# files share a precompiled header.
#
# dpc_precompile(DpcPrecompiled <mlir/IR/Builders.h> ..): makes a precompiled header of the given headers.
function(dpc_precompile name)
  set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(${name} OBJECT ${source})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # With this option the preprocessed source, which ccache reads, has only the name of the precompiled header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# dpc_use_precompiled(DpcPrecompiled dialects passes): lets the targets of these directories and of their
# subdirectories use the precompiled header, except targets that already use one. The targets must exist.
function(dpc_use_precompiled name)
  foreach(directory ${ARGN})
    get_filename_component(directory ${directory} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      get_target_property(type ${target} TYPE)
      get_target_property(other ${target} PRECOMPILE_HEADERS_REUSE_FROM)
      if(NOT other AND type MATCHES "LIBRARY|EXECUTABLE" AND NOT type STREQUAL "INTERFACE_LIBRARY")
        target_precompile_headers(${target} REUSE_FROM ${name})
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
          target_compile_options(${target} PRIVATE -fpch-preprocess)
        endif()
        # CMake compiles executables with -fPIE, but the header was precompiled for libraries, with -fPIC.
        if(type STREQUAL "EXECUTABLE")
          set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
          target_compile_options(${target} PRIVATE -fPIC)
        endif()
      endif()
    endforeach()
    get_property(children DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
    dpc_use_precompiled(${name} ${children})
  endforeach()
endfunction()
