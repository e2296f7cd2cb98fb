"""Programs of the scoreboard's models that take turns, so that noise of the machine falls on all alike."""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault('DPC_TOPOLOGY', 'target')  # measurements say which machine they were planned for


# The milliseconds of a step, as the page foresees it.
STEP = r'^ONE STEP \(MODEL\)\n.*\n +([\d.]+) ms'


class Contender:
    """A program of a model, compiled with some options, that takes its turn when told; `page` is its --explain."""

    def __init__(self, name, model, options, ranks=2, link=None):
        """`link`: bytes a second and seconds of an emulated link between the ranks."""
        self.name, self.times = name, []
        environment = {**os.environ, 'DPC_BENCH_LINK': f'{link[0]},{link[1]}'} if link else None
        workload = os.path.basename(model).split('_x')[0].removesuffix('.onnx')
        with tempfile.TemporaryFile('w+') as messages:
            self.process = subprocess.Popen(
                [os.path.join(ROOT, 'bench/contender'), workload, str(ranks), model, '--explain', *options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages, text=True, env=environment)
            ready = self.process.stdout.readline()
            messages.seek(0)
            self.page = messages.read()
        if not ready.startswith('READY'):
            self.stop()
            sys.exit(f'{name}: {self.page.strip()[-1000:]}')

    def search(self, pattern):
        """The groups of `pattern` in the page; ends everything where it is not there."""
        found = re.search(pattern, self.page, re.MULTILINE)
        if not found:
            self.stop()
            sys.exit(f'{self.name}: --explain does not say {pattern}: {self.page.strip()[-1000:]}')
        return found.groups()

    def step(self, steps):
        """Milliseconds of one of `steps` steps."""
        self.process.stdin.write(f'RUN {steps}\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline().removeprefix('DONE'))['s'] / steps * 1e3

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def take_turns(contenders, rounds, steps):
    """Fills their times, of `rounds` rounds after one that is not counted, and ends them."""
    for turn in range(rounds + 1):
        for contender in contenders:
            time = contender.step(steps)
            if turn:
                contender.times.append(time)
    for contender in contenders:
        contender.stop()


def count_pairs(predicted, measured, near=0.05):
    """(pairs of programs whose measured times differ by `near` or more, those of them that `predicted` orders alike)"""
    ordered = alike = 0
    for one, other in itertools.combinations(measured, 2):
        if max(measured[one], measured[other]) < (1 + near) * min(measured[one], measured[other]):
            continue
        ordered += 1
        alike += (measured[one] < measured[other]) == (predicted[one] < predicted[other])
    return ordered, alike
