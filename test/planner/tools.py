"""Calls the tools of dpc for tests, each in an empty folder of its own."""
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODELS = os.path.join(ROOT, 'test', 'models')
os.environ.setdefault('DPC_TOPOLOGY', 'target')  # no test depends on the file of a measured host
LIMIT = 300  # seconds: more is a hang
TESTS = []


class Failed(Exception):
    pass


def test(gate):
    """Registers a test of a gate: its name is `GATE: name of the function`."""
    def register(function):
        TESTS.append((f'{gate}: {function.__name__.replace("_", " ")}', function))
        return function
    return register


def expect(condition, message):
    if not condition:
        raise Failed(message)


class Tools:
    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        self.variables = {}  # of all tools that are called

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), 'w') as file:
            file.write(text)
        return self.path(name)

    def environment(self, work):
        return {**os.environ, 'TMPDIR': work, **self.variables}

    def call(self, tool, *arguments):
        """(exit code, standard output, standard error, the files left in its folder)"""
        work = tempfile.mkdtemp(dir=self.folder)
        try:
            done = subprocess.run([os.path.join(self.binaries, tool), *arguments], capture_output=True, cwd=work, text=True,
                                  timeout=LIMIT, stdin=subprocess.DEVNULL, env=self.environment(work))
        except subprocess.TimeoutExpired:
            raise Failed(f'{tool} hangs')
        return done.returncode, done.stdout, done.stderr.strip(), os.listdir(work)

    def good(self, tool, *arguments):
        """(standard output, standard error)"""
        code, out, error, _ = self.call(tool, *arguments)
        expect(code == 0, f'{tool} {" ".join(arguments)}: exits {code}: {error[-400:]}')
        return out, error

    def refused(self, code, text, tool, *arguments):
        """The tool must exit with `code` after one line that has `text`, and leave nothing."""
        found, out, error, left = self.call(tool, *arguments)
        what = f'{tool} {" ".join(arguments)}: exits {found}: {error[-400:]}'
        expect(found == code, what)
        expect(text in error and '\n' not in error, f'{what}, not one line with: {text}')
        expect(not left and not out, f'{what}, and leaves {left} {out[:100]}')
