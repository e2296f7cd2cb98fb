"""scripts/check-format."""
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDE = "// " + "x" * 100 + "\n"


class CheckFormat(unittest.TestCase):
    """A tree of one file."""

    def run_on(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            Path(folder, ".clang-format").write_text((ROOT / ".clang-format").read_text())
            file = Path(folder, "File.cpp")
            file.write_text(text)
            result = subprocess.run([ROOT / "scripts" / "check-format", *arguments, folder], capture_output=True, text=True,
                                    check=False)
            return result.returncode, result.stdout.splitlines(), file.read_text()

    def test_laid_out(self):
        self.assertEqual(self.run_on("// A comment.\nint a;\n")[:2], (0, ["1 passed, 0 failed"]))

    def test_not_laid_out(self):
        message = "File.cpp: not laid out by clang-format (scripts/check-format --fix)"
        self.assertEqual(self.run_on("int   a;\n")[:2], (1, [message, "0 passed, 1 failed"]))
        self.assertEqual(self.run_on("int   a;\n", "--fix")[2], "int a;\n")

    def test_comments_are_left_alone(self):
        text = "// - one\n// - two\nint a;\n"
        self.assertEqual(self.run_on(text, "--fix")[2], text)

    def test_wide_comment(self):
        message = "File.cpp:2: a comment of 103 columns, more than 100"
        self.assertEqual(self.run_on("int a;\n" + WIDE)[:2], (1, [message, "1 passed, 1 failed"]))
        self.assertEqual(self.run_on("int   a;\n" + WIDE, "--fix")[:2], (1, [message, "1 passed, 1 failed"]))

    def test_wide_comment_that_may_be(self):
        self.assertEqual(self.run_on("// | " + "x" * 80 + " |\nint a;\n")[0], 0)
        self.assertEqual(self.run_on("// clang-format off\n" + WIDE + "// clang-format on\nint a;\n")[0], 0)

    def test_long_file_says_what_it_is_for(self):
        message = "File.cpp: 61 lines, but it does not begin with a sentence that says what it is for"
        self.assertEqual(self.run_on("int a;\n" * 61)[:2], (1, [message, "1 passed, 1 failed"]))
        self.assertEqual(self.run_on("int a;\n" * 60)[0], 0)
        self.assertEqual(self.run_on("// Declares a.\n" + "int a;\n" * 60)[0], 0)
        self.assertEqual(self.run_on("/* Declares a. */\n" + "int a;\n" * 60)[0], 0)
