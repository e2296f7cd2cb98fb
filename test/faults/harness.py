"""What the tests of faults share: programs, runs whose processes are found and ended, checkpoints and their damage."""
import json
import os
import signal
import subprocess
import tempfile
import time

import numpy as np
from linking import link

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODEL = os.path.join(ROOT, 'test', 'models', 'mlp', 'model.onnx')
FLAGS = ['--shape=x:8x16', '--loss=cross-entropy', '--optimizer=adam,lr=0.01']
os.environ.setdefault('DPC_TOPOLOGY', 'target')  # no test depends on the file of a measured host
MARK = 'DPC_FAULTS_TEST'  # in the environment of all that a test starts
FOREVER = '--steps=100000000'
# Does $FAULT, a shell command, in the rank it names first, and becomes the program.
WRAPPER = '#!/bin/sh\n[ "$RANK" = "${FAULT%%:*}" ] && eval "${FAULT#*:}"\nexec "$PROGRAM" "$@"\n'


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failed(' '.join(str(w) for w in what))


def environment_of(pid):
    try:
        with open(f'/proc/{pid}/environ', 'rb') as file:
            return file.read()
    except OSError:
        return b''


def state_of(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().rsplit(')', 1)[1].split()[0]
    except OSError:
        return 'X'


def wait_until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, 'waited in vain until', what)
        time.sleep(0.01)


class Job:
    """A command in a session of its own, whose processes can be found by a mark in their environment."""

    def __init__(self, folder, command, environment=None, **options):
        self.name = f'{MARK}={os.path.basename(folder)}-{time.monotonic_ns()}'
        self.folder = folder
        self.output = os.path.join(folder, f'out-{time.monotonic_ns()}')
        self.begin = time.monotonic()
        variables = dict(os.environ, **(environment or {}))
        variables[MARK] = self.name.split('=', 1)[1]
        with open(self.output, 'w') as out, open(self.output + '.err', 'w') as errors:
            self.process = subprocess.Popen(command, stdout=out, stderr=errors, stdin=subprocess.DEVNULL,
                                            env=variables, start_new_session=True, **options)
        self.pid = self.process.pid

    def members(self):
        """Processes of this job that live."""
        mark = self.name.encode()
        return [int(p) for p in os.listdir('/proc') if p.isdigit() and mark in environment_of(p).split(b'\0')
                and state_of(p) not in 'ZX']

    def rank(self, number):
        """Process of a rank, once it is the program."""
        found = []

        def look():
            found[:] = [p for p in self.members() if f'RANK={number}'.encode() in environment_of(p).split(b'\0')]
            return found
        wait_until(look, f'rank {number} runs')
        return found[0]

    def trains(self):
        wait_until(lambda: 'step ' in self.text(), 'the first step')

    def text(self):
        with open(self.output, errors='replace') as file:
            return file.read()

    def errors(self):
        with open(self.output + '.err', errors='replace') as file:
            return file.read()

    def end(self, seconds=30):
        """Exit code; the job must leave no process."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.destroy()
            raise Failed(f'still runs after {seconds} s: {self.text()}{self.errors()}') from None
        self.seconds = time.monotonic() - self.begin
        try:
            wait_until(lambda: not self.members(), 'all processes have ended', 3)
        except Failed as error:
            self.destroy()
            raise Failed(f'{error}: {self.errors()}') from None
        return code

    def destroy(self):
        for pid in self.members():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def expect_cause(self, code, words, within=None, known=()):
        """One line on stderr, with all the words; `known` begins other lines that may stand there."""
        got = self.end()
        lines = [l for l in self.errors().splitlines() if not any(l.startswith(k) for k in known)]
        expect(got == code, f'exit {got} for {code}:', lines)
        expect(len(lines) == 1, f'{len(lines)} lines for one cause:', lines)
        for word in words:
            expect(word in lines[0], f'no "{word}" in', lines[0])
        if within is not None:
            expect(self.seconds < within, f'took {self.seconds:.1f} s for {within}')


class Tests:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.data = os.path.join(folder, 'data.npz')
        self.wrapper = os.path.join(folder, 'wrapper')
        with open(self.wrapper, 'w') as file:
            file.write(WRAPPER)
        os.chmod(self.wrapper, 0o755)
        rng = np.random.default_rng(0)
        np.savez(self.data, x=rng.standard_normal((64, 16)).astype(np.float32), label=rng.integers(0, 4, 64))

    def prepare(self, executor):
        """The programs that the tests run: of one, two and four ranks, and one of another model."""
        jobs = [executor.submit(self.tool, 'dpc-compile', MODEL, *FLAGS, f'--mesh=data={n}', '-o', self.program(n))
                for n in (1, 2, 4)]
        jobs.append(executor.submit(self.tool, 'dpc-compile', MODEL, '--shape=x:8x16', '--loss=cross-entropy',
                                    '--optimizer=sgd,lr=0.1', '-o', self.program('sgd')))
        for job in jobs:
            job.result()

    def program(self, name):
        return os.path.join(self.folder, f'program{name}')

    def tool(self, *command, environment=None):
        done = subprocess.run([os.path.join(self.tools, command[0]), *command[1:]], capture_output=True, text=True,
                              timeout=200, env=dict(os.environ, **(environment or {})))
        expect(done.returncode == 0, f'{command[0]} exits {done.returncode}:', done.stderr[-500:])
        return done.stdout + done.stderr

    def link(self, main, stem):
        """Links the object file STEM.o with the main function in a file of this folder, to the program STEM."""
        failure = link(self.tools, os.path.join(ROOT, 'test', 'faults', main), stem)
        expect(not failure, 'cannot link:', failure)

    def room(self):
        return tempfile.mkdtemp(dir=self.folder)

    def start(self, ranks, *options, fault=None, room=None, command=None):
        """Starts ranks under dpc-run; `fault` is RANK:shell command, done before the rank becomes the program."""
        environment = {'FAULT': fault or '', 'PROGRAM': self.program(ranks)}
        return Job(room or self.room(),
                   [os.path.join(self.tools, 'dpc-run'), '-n', str(ranks),
                    *(command or [self.wrapper if fault else self.program(ranks), f'--data={self.data}',
                                  '--no-shuffle']), *options], environment)

    def train(self, room, *options, ranks=1, code=0):
        """stderr of a run that ends by itself."""
        job = self.start(ranks, f'--checkpoint={room}/ck', f'--log={room}/log', *options, room=room)
        got = job.end(60)
        expect(got == code, f'exit {got} for {code}:', job.errors())
        return job.errors()


def steps_in(path):
    with open(path) as log:
        return [json.loads(line)['step'] for line in log]


def checkpoints_in(room):
    return sorted(os.listdir(os.path.join(room, 'ck')))


def damage(path, at=-5):
    with open(path, 'rb') as file:
        contents = bytearray(file.read())
    contents[at] ^= 1
    os.remove(path)
    with open(path, 'wb') as file:
        file.write(contents)
