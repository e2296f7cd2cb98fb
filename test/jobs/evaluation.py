"""What evaluation says: in the log, by itself (--evaluate), of which output, by which metrics, and when it ends a run."""
import math
import os
import re
import time

import numpy as np

from programs import data_of, expect


class Evaluation:
    def __init__(self, suite):
        self.suite = suite

    def evaluated(self, run):
        """The values of each evaluation that was printed, by step."""
        return {int(step): {name: float(value) for name, value in re.findall(r'(\S+) (\S+)', rest)}
                for step, rest in re.findall(r'eval at step (\d+):((?: \S+ [-\d.enaif+]+)+)', run.out)}

    def log(self):
        """Each line has the epoch and the time, and the last evaluation is in the last line."""
        program = self.suite.trainer('mlp')
        rows = len(np.load(data_of('mlp'))['label'])
        begin = time.time()
        run = self.suite.train(program, 'mlp', '--steps=12', f'--eval-data={data_of("mlp")}', '--eval-every=5',
                               '--log=epochs.jsonl').done()
        lines, end = self.suite.log('epochs.jsonl'), time.time()
        expect([line['step'] for line in lines] == list(range(1, 13)), f'steps {lines}')
        for line in lines:
            expect(math.isclose(line['epoch'], line['step'] * 8 / rows, rel_tol=1e-8), f'epoch of {line}')
        times = [line['time'] for line in lines]
        expect(begin - 0.01 <= times[0] and times == sorted(times) and times[-1] <= end + 0.01, f'times {times}')
        printed = self.evaluated(run)
        expect(sorted(printed) == [5, 10, 12], f'evaluations {printed}')
        for line in lines:
            found = {key[5:]: float(f'{value:.6g}') for key, value in line.items() if key.startswith('eval_')}
            expect(found == printed.get(line['step'], {}), f'{line} for {printed}')
        # A run that has no step left says what it evaluates in a line of its own, which keeps the others.
        self.suite.train(program, 'mlp', '--steps=12', '--checkpoint=epochs', '--log=epochs.jsonl').done()
        before = self.suite.log('epochs.jsonl')
        self.suite.train(program, 'mlp', '--steps=12', '--checkpoint=epochs', '--resume', '--log=epochs.jsonl',
                         f'--eval-data={data_of("mlp")}').done()
        *kept, last = self.suite.log('epochs.jsonl')
        expect(kept == before and 'loss' not in last, f'{last} after {kept[-1]}')
        for key in ('step', 'epoch', 'eval_loss', 'eval_accuracy'):
            expect(last[key] == lines[-1][key], f'{key}: {last}, not {lines[-1]}')

    def log_keeps_checkpoint(self):
        """An evaluation that fails at the end leaves the log's line and the checkpoint of the last step."""
        program = self.suite.trainer('mlp')
        run = self.suite.train(program, 'mlp', '--steps=4', f'--eval-data={data_of("mlp")}', '--eval-every=100', '--best=loss',
                               '--save-params=/dev/full', '--checkpoint=failed', '--log=failed.jsonl')
        expect(run.code == 5, f'exit {run.code}: {run.err}')
        expect(os.path.exists(self.suite.path('failed/step-4')), 'no checkpoint')
        expect([line['step'] for line in self.suite.log('failed.jsonl')] == [1, 2, 3, 4], 'a step is not in the log')


def checks(suite):
    tests = Evaluation(suite)
    yield 'daily log', tests.log
    yield 'daily log of a failed evaluation', tests.log_keeps_checkpoint
