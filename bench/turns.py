"""Programs of the scoreboard's models that take turns, so that noise of the machine falls on all alike."""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Contender:
    """A program of a model, compiled with some options, that takes its turn when told; `page` is its --explain."""

    def __init__(self, name, model, options, ranks=2):
        self.name, self.times = name, []
        workload = os.path.basename(model).split('_x')[0].removesuffix('.onnx')
        with tempfile.TemporaryFile('w+') as messages:
            self.process = subprocess.Popen(
                [os.path.join(ROOT, 'bench/contender'), workload, str(ranks), model, '--explain', *options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages, text=True)
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
