"""scripts/check-names."""
import trees

PASSES_TD = """#ifndef DPC_PASSES_MOVE_PASSES_TD
#define DPC_PASSES_MOVE_PASSES_TD
def MoveTensors : Pass<"dpc-move-tensors", "mlir::ModuleOp"> {
}
#endif
"""
OPS_TD = """#ifndef DPC_DIALECTS_NN_IR_SHAPE_TD
#define DPC_DIALECTS_NN_IR_SHAPE_TD
def NN_ScatterNDOp : NN_Op<"scatter_nd", [Pure]> {
}
#endif
"""
GOOD = {
    "passes/Move/Passes.td": PASSES_TD,
    "passes/Move/MoveTensors.cpp": "#define GEN_PASS_DEF_MOVETENSORS\n",
    "passes/Move/Distance.cpp": "",
    "test/passes/Move/move-tensors.mlir": "// RUN: dpc-opt %s --dpc-move-tensors\n",
    "test/passes/Move/move-tensors-invalid.mlir": "",
    "dialects/NN/IR/Shape.td": OPS_TD,
    "dialects/NN/IR/Shape.h": "#ifndef DPC_DIALECTS_NN_IR_SHAPE_H\n#define DPC_DIALECTS_NN_IR_SHAPE_H\n#endif\n",
    "dialects/NN/IR/Shape.cpp": "",
    "test/dialects/NN/shape-invalid.mlir": "",
    "runtime/include/dpc/comm.h": "#ifndef DPC_COMM_H\n#define DPC_COMM_H\n#endif\n",
    "test/unit/passes/Move/DistanceTest.cpp": "TEST(Distance, Zero) {}\n",
    "build/release/wrong.h": "",
}


class CheckNames(trees.OnTrees):
    script, good = "check-names", GOOD

    def test_flag_is_not_the_kebab_of_the_def(self):
        self.expect({"passes/Move/Passes.td": PASSES_TD.replace("dpc-move-tensors", "dpc-move")},
                    "passes/Move/Passes.td: pass MoveTensors has the flag --dpc-move, not --dpc-move-tensors")

    def test_pass_without_file(self):
        self.expect({"passes/Move/MoveTensors.cpp": None},
                    "passes/Move/Passes.td: pass MoveTensors has no file of its name: "
                    "passes/Move/MoveTensors.cpp is missing")

    def test_pass_without_test(self):
        self.expect({"test/passes/Move/move-tensors.mlir": None},
                    "passes/Move/Passes.td: pass MoveTensors has no test of its name: "
                    "test/passes/Move/move-tensors.mlir is missing")

    def test_test_that_runs_another_pass(self):
        self.expect({"test/passes/Move/move-tensors.mlir": "// RUN: dpc-opt %s --cse\n"},
                    "test/passes/Move/move-tensors.mlir: never runs --dpc-move-tensors")

    def test_pass_in_a_file_of_another_name(self):
        self.expect({"passes/Move/Distance.cpp": "#define GEN_PASS_DEF_MOVETENSORS\n"},
                    "passes/Move/Distance.cpp: defines the pass MOVETENSORS, which is not the file's name "
                    "in passes/Move/Passes.td")

    def test_pass_that_no_table_names(self):
        self.expect({"passes/Move/Distance.cpp": "#define GEN_PASS_DEF_DISTANCE\n"},
                    "passes/Move/Distance.cpp: defines the pass DISTANCE, which is not the file's name "
                    "in passes/Move/Passes.td")

    def test_folder_without_table(self):
        self.expect({"passes/Other/Lonely.cpp": "#define GEN_PASS_DEF_LONELY\n"},
                    "passes/Other/Lonely.cpp: holds a pass without a table: passes/Other/Passes.td is missing")

    def test_test_of_no_pass(self):
        self.expect({"test/passes/Move/moves.mlir": ""},
                    "test/passes/Move/moves.mlir: is named after no pass of passes/Move/Passes.td")

    def test_op_family_without_its_files(self):
        self.expect({"dialects/NN/IR/Shape.h": None, "dialects/NN/IR/Shape.cpp": None,
                     "test/dialects/NN/shape-invalid.mlir": None},
                    "dialects/NN/IR/Shape.td: op family without a header of its name: "
                    "dialects/NN/IR/Shape.h is missing",
                    "dialects/NN/IR/Shape.td: op family without a source of its name: "
                    "dialects/NN/IR/Shape.cpp is missing",
                    "dialects/NN/IR/Shape.td: op family without a test test/dialects/NN/shape*.mlir")

    def test_mnemonic_of_another_name(self):
        self.expect({"dialects/NN/IR/Shape.td": OPS_TD.replace('"scatter_nd"', '"scatter"')},
                    "dialects/NN/IR/Shape.td: NN_ScatterNDOp has the mnemonic scatter")

    def test_op_of_another_dialect(self):
        self.expect({"dialects/NN/IR/Shape.td": OPS_TD.replace("def NN_", "def Dist_")},
                    "dialects/NN/IR/Shape.td: Dist_ScatterNDOp is in the dialect NN")

    def test_guards(self):
        self.expect({"tools/A.h": "#ifndef DPC_A_H\n#define DPC_A_H\n#endif\n",
                     "tools/B.h": "#pragma once\n",
                     "tools/C.h": "#ifndef DPC_TOOLS_C_H\n#define DPC_TOOLS_D_H\n#endif\n"},
                    "tools/A.h: has DPC_A_H, not the guard DPC_TOOLS_A_H",
                    "tools/B.h: has no guard, not the guard DPC_TOOLS_B_H",
                    "tools/C.h: has DPC_TOOLS_C_H and DPC_TOOLS_D_H, not the guard DPC_TOOLS_C_H")

    def test_transports(self):
        room = "namespace dpc::pigeon {\n}\n"
        self.expect({"runtime/src/comm/pigeon/Coop.cpp": room, "runtime/src/comm/pigeon/Flight.cpp": "namespace dpc {\n}\n",
                     "runtime/src/comm/pigeon/PigeonComm.cpp": room, "runtime/src/comm/transports/Transports.cpp": ""},
                    "runtime/src/comm/pigeon/Flight.cpp: has no namespace dpc::pigeon")

    def test_unit_test_of_nothing(self):
        self.expect({"test/unit/passes/Gone/DistanceTest.cpp": "TEST(Distance, Zero) {}\n"},
                    "test/unit/passes/Gone/DistanceTest.cpp: mirrors passes/Gone, which does not exist")

    def test_unit_test_of_another_name(self):
        self.expect({"test/unit/passes/Move/Distances.cpp": "TEST(Distance, Zero) {}\n"},
                    "test/unit/passes/Move/Distances.cpp: holds tests, but its name does not end in Test")
