"""scripts/reference."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reference"
TABLE = """include "mlir/Pass/PassBase.td"

def Fold : Pass<"dpc-fold"> {{
  let summary = "{summary}";
}}
"""


class Reference(unittest.TestCase):
    """The pages of a tree with one pass: written, then held to the definitions."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.table = self.root / "passes" / "Folding" / "Passes.td"
        self.table.parent.mkdir(parents=True)
        self.table.write_text(TABLE.format(summary="Folds what is known"))
        self.assertEqual(self.run_script(), (0, []))
        self.pages = self.root / "docs" / "reference"

    def run_script(self, *arguments):
        result = subprocess.run([sys.executable, SCRIPT, *arguments, self.root], capture_output=True, text=True, check=False)
        self.assertEqual(result.stderr, "")
        return result.returncode, result.stdout.splitlines()

    def expect_wrong(self, *pages):
        lines = [f"docs/reference/{page}: is not what the .td files say (scripts/reference writes it)" for page in pages]
        self.assertEqual(self.run_script("--check"), (1, lines + [f"{2 - min(len(pages), 2)} passed, {len(pages)} failed"]))

    def test_pages_that_were_written_pass(self):
        self.assertIn("Folds what is known", (self.pages / "README.md").read_text())
        self.assertIn("### `--dpc-fold`", (self.pages / "passes" / "Folding.md").read_text())
        self.assertEqual(self.run_script("--check"), (0, ["2 passed, 0 failed"]))

    def test_definition_that_changed(self):
        self.table.write_text(TABLE.format(summary="Folds more"))
        self.expect_wrong("README.md", "passes/Folding.md")

    def test_page_that_was_edited(self):
        page = self.pages / "passes" / "Folding.md"
        page.write_text(page.read_text() + "More.\n")
        self.expect_wrong("passes/Folding.md")

    def test_page_of_nothing(self):
        (self.pages / "passes" / "Gone.md").write_text("# Gone\n")
        self.assertEqual(self.run_script("--check")[1][-1], "2 passed, 1 failed")
        self.assertEqual(self.run_script(), (0, []))
        self.assertEqual(self.run_script("--check"), (0, ["2 passed, 0 failed"]))
