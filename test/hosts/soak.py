"""Long tests for test/hosts/run: kills after which a run goes on, and many faults that leave nothing. A seed decides what happens.

A test `soak kills SEED` trains over 3 hosts x 2 ranks, and breaks the run again and again: a rank is killed (--max-restarts goes on), or a
launcher, or all processes of a host; a host is cut off, or cut off and killed. If the launchers end, the test starts them again with
--resume. In the end losses and parameters have the bits of a run that nothing disturbed. A test `soak faults SEED` makes faults of
matrix.py, several at once, and lets the next run in the folder of each dead one remove what that has left.

After each test, no host has a process, a listening port, a segment of shared memory, or a file in /tmp or /dev/shm, the folders of the
runs have results only, and this process has as many descriptors as before. DPC_LONG=1 makes 200 kills and 1,000 faults instead of 8 and 20.
"""
import concurrent.futures
import json
import os
import random
import re
import signal
import time

import matrix
import runs

LONG = bool(os.environ.get('DPC_LONG'))
KILLS, KILL_SEEDS = 8, 25 if LONG else 1
FAULTS, FAULT_SEEDS = 20, 50 if LONG else 1
STEPS, EVERY = 1000, 7
LAYOUTS = (['--mesh=data=3,model=2'], ['--mesh=pipe=3,data=2', '--microbatches=4'], ['--mesh=data=6'])
KINDS = ('rank', 'rank', 'launcher', 'host', 'link', 'power')
AT_ONCE = 4
SLOW = () if LONG else ('stop', 'straggler')  # faults that others notice after seconds
RESULTS = re.compile(r'run\.(jsonl|safetensors|mark|records(/.*)?|checkpoint(/step-\d+(/(state-\d+\.safetensors|manifest\.json))?)?)')


def read_number(path, pattern):
    """The number that follows a pattern in a file of /proc; None if the process has ended or has no such number."""
    try:
        with open(path) as file:
            found = re.search(pattern + r'(\d+)', file.read())
        return int(found[1]) if found else None
    except OSError:
        return None


def names_below(folder):
    """The paths of all files and folders in a folder, relative to it."""
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, folders, files in os.walk(folder) for name in (*folders, *files))


def strangers(folder):
    """What a folder of a run has besides results."""
    return [name for name in names_below(folder) if not RESULTS.fullmatch(name)]


def logged(log):
    """The last step in a log; 0 if there is none."""
    try:
        with open(log, 'rb') as file:
            file.seek(max(0, os.path.getsize(log) - 4000))
            steps = re.findall(rb'"step": (\d+).*}\n', file.read())
        return int(steps[-1]) if steps else 0
    except OSError:
        return 0


class Disturbed:
    """One run that the test kills and starts again."""

    def __init__(self, world, program, folder, rng):
        self.world, self.program, self.folder, self.rng = world, program, folder, rng
        self.out, self.history = os.path.join(folder, 'run'), []
        self.processes, self.killed, self.dying = [], set(), []
        self.start()

    def fail(self, text):
        raise runs.Failed(f'{text}, after {"; ".join(self.history) or "nothing"}')

    def start(self):
        data = '--data=' + os.path.join(runs.interp.MODELS, 'gpt2', 'data.npz')
        self.processes = self.world.launch(
            self.program, data, f'--steps={STEPS}', f'--log={self.out}.jsonl', f'--save-params={self.out}.safetensors',
            f'--checkpoint={self.out}.checkpoint', f'--checkpoint-every={EVERY}', *(['--resume'] if self.history else []),
            before=[f'--max-restarts={KILLS}'])

    def has_ended(self):
        return all(process.poll() is not None for process in self.processes)

    def rank(self, number):
        """The process of a rank that has not been killed before; None if there is none."""
        for process, words in self.world.hosts[number // 2].live().items():
            if words[0] == self.program and process not in self.killed and \
                    read_number(f'/proc/{process}/environ', r'(?:^|\0)RANK=') == number:
                return process
        return None

    def wait(self, what, is_there, seconds=60):
        """Waits until something is there, or the run has ended. Returns the former."""
        deadline = time.monotonic() + seconds
        while not (found := is_there()) and not self.has_ended():
            if time.monotonic() > deadline:
                self.fail(f'{what} does not come within {seconds} s')
            time.sleep(0.002)
        return found

    def disturb(self, kind, victim, step):
        """Lets the run reach a step (None: only its start), and breaks it. False if the run ended before."""
        process = self.wait(f'rank {victim}', lambda: self.rank(victim))
        if process and step:
            self.wait(f'step {step}', lambda: logged(self.out + '.jsonl') >= step)
            process = self.wait(f'rank {victim}', lambda: self.rank(victim))
        time.sleep(self.rng.uniform(0, 0.05 if step else 0.5))
        index, now = victim // 2, logged(self.out + '.jsonl')
        host, launcher = self.world.hosts[index], self.processes[index]
        if not process or self.has_ended():
            return False
        self.history.append(f'{kind} {victim if kind == "rank" else index} at step {now}')
        if kind == 'rank':
            self.killed.add(process)
            self.dying = [index]
            return host.send(process, signal.SIGKILL)
        try:
            if kind in ('link', 'power'):
                host.unplug()
            if kind == 'launcher' and (child := read_number(f'/proc/{launcher.pid}/task/{launcher.pid}/children', '')):
                host.send(child, signal.SIGKILL)
            if kind in ('host', 'power'):
                host.clear()
            self.expect_end(index)
        finally:
            host.plug()
        self.dying = []
        self.start()
        return True

    def expect_end(self, index):
        """All launchers end. Those of the other hosts say one line that names the host or a rank of it, or that of the kill before, if
        the ranks had not been started again."""
        results = self.finish_within(60)
        if all(code == 0 for number, (code, _, _) in enumerate(results) if number != index):
            return  # the run had ended before
        guilty = '|'.join(rf'node {host}\b|rank ({2 * host}|{2 * host + 1})\b' for host in (index, *self.dying))
        for number, (code, _, error) in enumerate(results):
            # Each restart before has told its own cause.
            lines = [line for line in re.split('note: a rank died; start .*', error)[-1].splitlines() if 'error: ' in line]
            if number != index and (code != 3 or len(lines) != 1 or not re.search(f'error: ({guilty})', lines[0])):
                self.fail(f'host {number} ends with {code} and {error.splitlines()}, not with one line that names node {index}')

    def finish_within(self, seconds):
        try:
            return runs.ends(self.processes, seconds)
        except runs.Failed as error:
            self.fail(f'the run {error}')

    def finish(self):
        results = self.finish_within(120)
        for number, (code, _, error) in enumerate(results):
            if code:
                self.fail(f'host {number} ends with {code}: {error}')


class Soak:
    def __init__(self, world):
        self.world, self.matrix = world, matrix.Matrix(world)

    def fail(self, text):
        raise runs.Failed(text)

    def folder(self, *words):
        path = self.world.path('soak', *words)
        os.mkdir(path)
        return path

    def clean(self, check, seed):
        """Runs a test, and then fails if a host has something of a run, or this process has other descriptors than before."""
        descriptors = len(os.listdir('/proc/self/fd'))
        try:
            check(random.Random(seed), seed)
            self.nothing_is_left()
        finally:
            for host in self.world.hosts:
                host.clear()
        if len(os.listdir('/proc/self/fd')) != descriptors:
            self.fail(f'{len(os.listdir("/proc/self/fd"))} descriptors, not {descriptors}')

    def nothing_is_left(self):
        hosts = self.world.hosts
        deadline = time.monotonic() + 5
        while any(host.live() for host in hosts) and time.monotonic() < deadline:
            time.sleep(0.05)
        for host in hosts:
            left = [' '.join(words) for words in host.live().values()] + host.listeners() + host.files()
            if left:
                self.fail(f'{host.name} still has {left}')

    def losses(self, out):
        with open(out + '.jsonl') as log:
            return [(line['step'], line['loss']) for line in map(json.loads, log)]

    def kills(self, rng, seed):
        program = self.world.program('gpt2', LAYOUTS[seed % len(LAYOUTS)])
        whole = program + '.soaked'
        if not os.path.exists(whole + '.safetensors'):
            self.world.runner.tool('dpc-run', program, '--data=' + os.path.join(runs.interp.MODELS, 'gpt2', 'data.npz'),
                                   f'--steps={STEPS}', f'--log={whole}.jsonl', f'--save-params={whole}.safetensors')
        left = KILLS
        while left:
            run = Disturbed(self.world, program, self.folder('kills', seed, left), rng)
            for step in sorted(rng.sample(range(1, STEPS * 9 // 10), left)):
                # Every fourth kill comes while the run starts.
                if not run.disturb(rng.choice(KINDS), rng.randrange(6), step if rng.randrange(4) else None):
                    break  # the run has ended, and another one gets the other kills
                left -= 1
            run.finish()
            for same, what in ((self.losses(run.out) == self.losses(whole), 'losses'),
                               (runs.read(run.out + '.safetensors') == runs.read(whole + '.safetensors'), 'parameters')):
                if not same:
                    run.fail(f'other {what}')
            if strangers(run.folder):
                run.fail(f'the run leaves {strangers(run.folder)}')

    def fault(self, folder, kind, rank, moment):
        """Which rank the launchers name is the matter of the matrix. Here they all end."""
        outcome = self.matrix.outcome('tcp', kind, rank, moment, os.path.join(folder, 'run'))
        if outcome.hangs:
            self.fail(f'the launchers {outcome.hangs} hang')

    def next_run(self, folder, kind, *_):
        """A further run in the folder of a dead one, which removes what that has left, and has the results of a run without a fault."""
        out, program = os.path.join(folder, 'run'), self.matrix.program(kind)
        resumes = ['--resume'] if os.path.exists(out + '.checkpoint') else []
        runs.succeed(self.world.launch(*self.matrix.command(program, out), *resumes))
        if kind not in matrix.VALUES and runs.read(out + '.safetensors') != runs.read(program + '.safetensors'):
            self.fail('the next run has other parameters')
        if strangers(folder):
            self.fail(f'the next run leaves {strangers(folder)}')

    def faults(self, rng, seed):
        # A link serves all runs of its host, so it is cut in `kills`.
        kinds = [kind for kind in matrix.KINDS if kind not in ('link', *SLOW)]
        possible = [(kind, rank, moment) for kind in kinds for rank in matrix.RANKS for moment in matrix.MOMENTS
                    if not matrix.impossible(kind, moment)]
        drawn = [(self.folder('faults', seed, number), *rng.choice(possible)) for number in range(FAULTS)]
        failures = []

        def each(check, arguments):
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as executor:
                verdicts = executor.map(lambda words: runs.judge(' '.join(map(str, words[1:])), lambda: check(*words)), arguments)
                failures.extend(f'{name}: {why}' for name, why in verdicts if why)

        each(self.fault, drawn)
        each(self.next_run, [words for words in drawn if strangers(words[0])])
        if failures:
            self.fail('; '.join(failures))


def tests(world):
    """Names and functions."""
    soak = Soak(world)
    for seed in range(1, KILL_SEEDS + 1):
        yield f'soak kills {seed}', lambda seed=seed: soak.clean(soak.kills, seed)
    for seed in range(1, FAULT_SEEDS + 1):
        yield f'soak faults {seed}', lambda seed=seed: soak.clean(soak.faults, seed)
