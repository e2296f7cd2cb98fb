"""What every suite test/SUITE/run does alike."""
import concurrent.futures
import glob
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Suites(unittest.TestCase):
    def test_a_word_that_no_test_has_fails(self):
        """A misspelt word must not look like a suite that passes."""
        def run(suite):
            return suite, subprocess.run([sys.executable, suite, "-k", "no test has this"], capture_output=True, text=True,
                                         cwd=ROOT, timeout=300)
        suites = sorted(glob.glob(os.path.join(ROOT, "test", "*", "run")))
        self.assertGreater(len(suites), 20)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for suite, done in pool.map(run, suites):
                with self.subTest(os.path.relpath(suite, ROOT)):
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                    self.assertIn("0 passed, 0 failed", done.stdout)
