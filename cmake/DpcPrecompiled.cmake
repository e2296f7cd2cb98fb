# MLIR's headers take longer to read than most of our files take to compile (10 s of 13): everything that
# uses them shares one precompiled header.
#
# dpc_precompile(dialects passes): for the targets of these directories and those below, which must exist.
function(dpc_precompile)
  set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(DpcPrecompiled OBJECT ${source})
  target_precompile_headers(DpcPrecompiled PRIVATE
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/IR/Builders.h>
    <mlir/IR/OpImplementation.h>
    <mlir/Interfaces/InferTypeOpInterface.h>
    <mlir/Pass/Pass.h>)
  # ccache then reads the header's name instead of its text.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(DpcPrecompiled PRIVATE -fpch-preprocess)
  endif()
  foreach(directory ${ARGN})
    dpc_use_precompiled(${PROJECT_SOURCE_DIR}/${directory})
  endforeach()
endfunction()

function(dpc_use_precompiled directory)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "LIBRARY|EXECUTABLE" AND NOT type STREQUAL "INTERFACE_LIBRARY")
      target_precompile_headers(${target} REUSE_FROM DpcPrecompiled)
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
  foreach(child ${children})
    dpc_use_precompiled(${child})
  endforeach()
endfunction()
