# dpc_add_dialect(Dist dist): generates the dialect, its enums and its attributes from <Name>Dialect.td
# and <Name>Attrs.td. Each op family has its own .td (dpc_add_ops), because one file with 100 ops
# takes 40 s to compile.
function(dpc_add_dialect name ns)
  set(LLVM_TARGET_DEFINITIONS ${name}Attrs.td)
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${ns})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${ns})
  mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${ns})
  mlir_tablegen(${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${ns})
  add_public_tablegen_target(Dpc${name}AttrsIncGen)
endfunction()

# dpc_add_ops(NN Elementwise): generates one op family of a dialect from <Family>.td.
function(dpc_add_ops dialect family)
  set(LLVM_TARGET_DEFINITIONS ${family}.td)
  mlir_tablegen(${family}.h.inc -gen-op-decls)
  mlir_tablegen(${family}.cpp.inc -gen-op-defs)
  add_public_tablegen_target(Dpc${dialect}${family}IncGen)
endfunction()

# dpc_add_op_interface(DifferentiableOpInterface): generates one op interface from <Name>.td.
function(dpc_add_op_interface name)
  set(LLVM_TARGET_DEFINITIONS ${name}.td)
  mlir_tablegen(${name}.h.inc -gen-op-interface-decls)
  mlir_tablegen(${name}.cpp.inc -gen-op-interface-defs)
  add_public_tablegen_target(Dpc${name}IncGen)
endfunction()

# dpc_add_passes(Buckets): generates the declarations of the passes in one folder's Passes.td.
function(dpc_add_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=${name})
  add_public_tablegen_target(Dpc${name}PassesIncGen)
endfunction()

# dpc_add_unit_test(LayoutTest SOURCES LayoutTest.cpp LIBS DpcDist [SHARDS 4]): adds one GoogleTest binary, which ctest
# runs. SHARDS divides a long test into parts that run in parallel.
function(dpc_add_unit_test name)
  cmake_parse_arguments(ARG "" "SHARDS" "SOURCES;LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  # Compiling tests takes a quarter of a build, and their own code takes little of a test's time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  # No unity build: GCC warns of fixtures in an unnamed namespace of an included file.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/unit UNITY_BUILD OFF)
  if(NOT ARG_SHARDS)
    add_test(NAME unit.${name} COMMAND ${name})
    return()
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    add_test(NAME unit.${name}.${shard} COMMAND ${name})
    math(EXPR index "${shard} - 1")
    set_tests_properties(unit.${name}.${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# dpc_add_tool_options(dpc-compile): generates the option table of a tool from its Options.td.
function(dpc_add_tool_options tool)
  set(LLVM_TARGET_DEFINITIONS Options.td)
  tablegen(LLVM Options.inc -gen-opt-parser-defs)
  add_public_tablegen_target(${tool}-options)
  add_dependencies(${tool} ${tool}-options)
  target_include_directories(${tool} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
