"""scripts/check-layers."""
import trees

LAYERS = """# Comments are not rows.

low
  holds: what all use
  includes: MLIR

high
  holds: what uses it
  includes: low, MLIR

high/room
  holds: a part with rules of its own
"""
TABLE = """| folder | holds | may include |
|---|---|---|
| `low` | what all use | MLIR |
| `high` | what uses it | low, MLIR |
| `high/room` | a part with rules of its own | nothing |
"""
GOOD = {
    "scripts/layers": LAYERS,
    "docs/architecture.md": "# Tree\n\n" + TABLE + "\nMore.\n",
    "low/Low.h": "",
    "low/Low.cpp": '#include "low/Low.h"\n#include "mlir/IR/Value.h"\n#include <vector>\n',
    "high/High.cpp": '#include "high/High.h"\n',
    "high/High.h": '#include "low/Low.h"\n#include "llvm/ADT/StringRef.h"\n',
    "high/room/Room.cpp": '#include "Beside.h"\n',
    "high/room/Beside.h": "",
    # Tests and what is built are nobody's layer.
    "test/low/LowTest.cpp": '#include "high/High.h"\n',
    "build/release/Made.h": '#include "high/High.h"\n',
}


class CheckLayers(trees.OnTrees):
    script, good = "check-layers", GOOD

    def test_folder_that_may_not(self):
        self.expect({"high/room/Room.cpp": '#include "low/Low.h"\n'},
                    "high/room/Room.cpp: high/room may not include low: low/Low.h < high/room/Room.cpp")

    def test_through_a_header(self):
        self.expect({"high/room/Beside.h": '#include "low/Low.h"\n'},
                    "high/room/Beside.h: high/room may not include low: low/Low.h < high/room/Beside.h",
                    "high/room/Room.cpp: high/room may not include low: low/Low.h < high/room/Beside.h < high/room/Room.cpp")

    def test_library(self):
        self.expect({"high/High.cpp": '#include "llvm/IR/Module.h"\n'},
                    "high/High.cpp: high may not include LLVM IR: <LLVM IR> < high/High.cpp")

    def test_library_through_a_header(self):
        self.expect({"scripts/layers": LAYERS.replace("MLIR", "MLIR, LLVM IR", 1),
                     "docs/architecture.md": TABLE.replace("| MLIR |", "| MLIR, LLVM IR |"),
                     "low/Low.h": '#include "mlir/Dialect/LLVMIR/LLVMDialect.h"\n'},
                    "high/High.cpp: high may not include LLVM IR: <LLVM IR> < low/Low.h < high/High.h < high/High.cpp",
                    "high/High.h: high may not include LLVM IR: <LLVM IR> < low/Low.h < high/High.h")

    def test_circle(self):
        self.expect({"scripts/layers": LAYERS.replace("includes: MLIR", "includes: high, MLIR"),
                     "docs/architecture.md": TABLE.replace("| MLIR |", "| high, MLIR |"),
                     "low/Low.cpp": '#include "high/High.h"\n#include "mlir/IR/Value.h"\n'},
                    "high: a circle: high > low (high/High.h > low/Low.h); low > high (low/Low.cpp > high/High.h)")

    def test_folder_without_row(self):
        self.expect({"other/Other.cpp": ""}, "other/Other.cpp: its folder is not in scripts/layers")

    def test_row_without_folder(self):
        self.expect({"high/room/Room.cpp": None, "high/room/Beside.h": None},
                    "scripts/layers: high/room holds no source file")

    def test_row_that_names_no_folder(self):
        self.expect({"scripts/layers": LAYERS.replace("includes: low, MLIR", "includes: low, wide/*, MLIR"),
                     "docs/architecture.md": TABLE.replace("low, MLIR", "low, wide/*, MLIR")},
                    "scripts/layers: high may include wide/*, which is no folder of the table")

    def test_permission_that_nothing_needs(self):
        self.expect({"high/High.cpp": '#include "high/High.h"\n', "high/High.h": "#include <vector>\n"},
                    "scripts/layers: high may include low, which nothing there does",
                    "scripts/layers: high may include MLIR, which nothing there does")

    def test_folders_below_one(self):
        status, lines = self.run_on({
            "scripts/layers": LAYERS.replace("includes: MLIR", "includes: high/*, MLIR"),
            "docs/architecture.md": TABLE.replace("| MLIR |", "| high/*, MLIR |"),
            "low/Low.cpp": '#include "high/room/Beside.h"\n#include "mlir/IR/Value.h"\n'})
        self.assertEqual((status, len(lines)), (0, 1), lines)

    def test_page_with_another_table(self):
        self.expect({"docs/architecture.md": TABLE.replace("what all use", "everything")},
                    "docs/architecture.md: has not the table that scripts/check-layers --table prints")
