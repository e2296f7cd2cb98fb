# MLIR's headers take longer to read than most of our files take to compile (10 s of 13): everything that
# uses them shares a precompiled header.
#
# dpc_precompile(DpcPrecompiled <mlir/IR/Builders.h> ..): a precompiled header of these.
function(dpc_precompile name)
  set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(${name} OBJECT ${source})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # ccache then reads the header's name instead of its text.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# dpc_use_precompiled(DpcPrecompiled dialects passes): for the targets of these directories and those below, which
# must exist; but not for those that have a precompiled header already.
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
        # Code for executables would be compiled as -fPIE, with which a header precompiled for libraries does not go.
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
