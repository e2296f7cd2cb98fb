"""Scripts that check the tree, on small bad trees."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class OnTrees(unittest.TestCase):
    """A script's name, and a tree that it has nothing against; each test breaks one thing in it."""

    script = None
    good = {}

    def run_on(self, changes):
        """Runs the script on the good tree with some files changed (None: missing); returns status and lines."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**self.good, **changes}.items():
                if text is None:
                    continue
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            result = subprocess.run([sys.executable, ROOT / "scripts" / self.script, folder],
                                    capture_output=True, text=True, check=False)
            self.assertEqual(result.stderr, "")
            return result.returncode, result.stdout.splitlines()

    def expect(self, changes, *messages):
        status, lines = self.run_on(changes)
        self.assertEqual(lines[:-1], list(messages))
        self.assertEqual(status, 1)
        self.assertTrue(lines[-1].endswith(f" passed, {len(messages)} failed"), lines[-1])

    def test_good_tree(self):
        status, lines = self.run_on({})
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].endswith(" passed, 0 failed"))
        self.assertEqual(status, 0)
