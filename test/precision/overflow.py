"""Batches that overflow f16 in the forward pass are skipped, and nothing is learnt of them but a smaller loss scale."""
import json
import os

import numpy as np

STEPS, BAD = 6, 2            # the bad batch counts from 0
ALL_SKIPPED = 31             # 65536 halved until it is below 2^-14

# Model: its folder, batch, what a sample is multiplied by (tanh would hide an overflow), flags. One sample of the batch overflows, so one rank or microbatch alone.
MODELS = {
    'mlp': ('models/mlp', 8, 1e6, ['--shape=x:8x16', '--loss=cross-entropy', '--optimizer=adam,lr=0.01']),
    'bn_cnn': ('models/bn_cnn', 8, 1e6, ['--shape=x:8x3x12x12', '--loss=cross-entropy', '--optimizer=momentum,lr=0.05']),
    'centred': ('module/centred-unoptimized', 4, np.nan, ['--loss=cross-entropy', '--optimizer=adam,lr=0.01']),
}
LAYOUTS = [('mlp', []), ('mlp', ['--mesh=data=2']), ('mlp', ['--mesh=model=2']), ('mlp', ['--accumulate=2']),
           ('mlp', ['--mesh=data=2', '--zero=3', '--accumulate=2']), ('mlp', ['--clip-grad-norm=0.1', '--mesh=data=2', '--zero=2']),
           ('mlp', ['--optimizer=lamb,lr=0.01']), ('mlp', ['--optimizer=sgd,lr=0.1', '--log-grad-norm']),
           ('bn_cnn', []), ('bn_cnn', ['--mesh=data=2', '--zero=1']), ('bn_cnn', ['--accumulate=2']),
           ('centred', []), ('centred', ['--mesh=data=2', '--zero=3', '--remat=full'])]


class Failed(Exception):
    pass


class Overflow:
    def __init__(self, runner, interp):
        self.runner, self.interp, self.runs = runner, interp, 0

    def path(self, name):
        return os.path.join(self.runner.folder, name)

    def data(self, model, value=None, bad=(BAD,), left=()):
        """The data of STEPS steps with a sample times `value` in each bad batch, without the batches of `left`."""
        folder, batch, factor, _ = MODELS[model]
        arrays = {name: values[:STEPS * batch].copy() for name, values in
                  np.load(os.path.join(self.interp.ROOT, 'test', folder, 'data.npz')).items()}
        for step in bad:
            arrays['x'][step * batch + batch - 1] *= factor if value is None else value
        rows = [row for row in range(STEPS * batch) if row // batch not in left]
        self.runs += 1
        path = self.path(f'overflow{self.runs}.npz')
        np.savez(path, **{name: values[rows] for name, values in arrays.items()})
        return path

    def compile(self, model, precision, *flags):
        folder, _, _, own = MODELS[model]
        named = {flag.split('=')[0] for flag in flags}
        self.runs += 1
        program = self.path(f'overflow{self.runs}')
        self.runner.tool('dpc-compile', os.path.join(self.interp.ROOT, 'test', folder, 'model.onnx'), '-o', program,
                         f'--precision={precision}', *[flag for flag in own if flag.split('=')[0] not in named], *flags)
        return program, 2 if any(flag.startswith('--mesh') for flag in flags) else 1

    def train(self, program, data, steps, *more, codes=(0,)):
        """The finished process, the log's lines, and all state of the checkpoint at the end."""
        self.runs += 1
        stem = self.path(f'overflow{self.runs}')
        done = self.runner.tool('dpc-run', '-n', str(program[1]), program[0], f'--data={data}', '--no-shuffle',
                                f'--steps={steps}', f'--log={stem}.jsonl', f'--checkpoint={stem}', *more, codes=codes)
        with open(stem + '.jsonl') as log:
            lines = [json.loads(line) for line in log]
        newest = max(os.listdir(stem), key=lambda name: int(name.split('-')[-1]) if name != 'best' else -1) if os.path.isdir(stem) else None
        return done, lines, self.interp.read_checkpoint(os.path.join(stem, newest)) if newest else {}

    def skipped(self, model, flags):
        """The state after the bad batch is that before it, and training goes on as if there had been none."""
        program = self.compile(model, 'f16', *flags)
        data = self.data(model)
        _, _, before = self.train(program, data, BAD)
        done, lines, after = self.train(program, data, BAD + 1)
        if [line['loss'] is None for line in lines] != [False] * BAD + [True] or 'the step is skipped' not in done.stdout:
            raise Failed(f"losses {[line['loss'] for line in lines]}, says {done.stdout[-300:]}")
        if after['loss_scale'] != before['loss_scale'] / 2 or after['loss_scale|steps_skipped'] != 1:
            raise Failed(f"scale {after['loss_scale']} after {before['loss_scale']}")
        for name, values in before.items():
            if not name.startswith('loss_scale') and after[name].tobytes() != values.tobytes():
                raise Failed(f'{name} has changed')
        _, lines, state = self.train(program, data, STEPS)
        _, without, want = self.train(program, self.data(model, left=(BAD,)), STEPS - 1)
        losses = [line['loss'] for line in lines if line['loss'] is not None]
        if not np.allclose(losses, [line['loss'] for line in without], rtol=2e-3):
            raise Failed(f'losses {losses}, without the batch {[line["loss"] for line in without]}')
        off = max(np.max(np.abs(state[name] - values)) / max(np.max(np.abs(values)), 1e-6) for name, values in want.items()
                  if not name.startswith('loss_scale') and '|' not in name)
        if not off < 1e-4:
            raise Failed(f'state off by {off:.1e}')
        return f'state off by {off:.0e}'

    def stops(self, precision):
        """With other precisions a loss that is not finite ends the run, and changes nothing about --nan=warn."""
        program = self.compile('mlp', precision)
        data = self.data('mlp', value=np.inf)
        done, lines, _ = self.train(program, data, STEPS, codes=(4,))
        if len(lines) != BAD + 1 or f'step {BAD + 1}: loss' not in done.stderr:
            raise Failed(f'{len(lines)} steps, says {done.stderr[-200:]}')
        self.train(program, data, STEPS, '--nan=warn')
        return f'step {BAD + 1}'

    def never_finite(self, flags):
        """A loss that is finite at no scale ends an f16 run too, with a checkpoint of what there was."""
        program = self.compile('mlp', 'f16', *flags)
        data = self.data('mlp', value=np.nan, bad=range(STEPS))
        done, lines, state = self.train(program, data, 100, codes=(4,))
        if len(lines) != ALL_SKIPPED or 'the loss scale fell below' not in done.stderr or any(line['loss'] for line in lines):
            raise Failed(f'{len(lines)} steps, says {done.stderr[-200:]}')
        if f'the loss of {ALL_SKIPPED} steps was not finite' not in done.stdout:
            raise Failed(f'says {done.stdout[-300:]}')
        if state['loss_scale|steps_skipped'] != ALL_SKIPPED:
            raise Failed(f"{state['loss_scale|steps_skipped']} steps skipped")
        return f'exit 4 after {len(lines)} steps'

    def resumed(self):
        """A run that is resumed after the skipped step goes on as the whole one."""
        program, data = self.compile('mlp', 'f16', '--lr-schedule=linear,warmup=2'), self.data('mlp')
        _, whole, _ = self.train(program, data, STEPS)
        folder, log = self.path('overflow-resumed'), self.path('overflow-resumed.jsonl')
        for steps in (BAD + 1, STEPS):
            self.runner.tool('dpc-run', program[0], f'--data={data}', '--no-shuffle', f'--steps={steps}', f'--checkpoint={folder}',
                             f'--log={log}', '--resume', *(['--lr=0.01'] if steps == STEPS else []))
        with open(log) as file:
            lines = [json.loads(line) for line in file]
        # The schedule's end is that of the run, so the first part had other rates: steps are counted, skipped ones too.
        if [line['learning_rate'] for line in lines[BAD + 1:]] != [line['learning_rate'] for line in whole[BAD + 1:]]:
            raise Failed('other learning rates')
        if [line['loss'] is None for line in lines] != [line['loss'] is None for line in whole]:
            raise Failed('other steps were skipped')
        return f'{len(lines)} steps'

    def evaluated(self, flags):
        """Batches that overflow are left out of what an evaluation means, and it can be the best."""
        program = self.compile('mlp', 'f16', *flags)
        data, clean = self.data('mlp', bad=()), self.data('mlp', left=(BAD,))
        results = []
        for evaluation in (self.data('mlp'), clean):
            done, lines, _ = self.train(program, data, STEPS, f'--eval-data={evaluation}', '--eval-every=2', '--best=loss')
            results.append(([line['eval_loss'] for line in lines if 'eval_loss' in line],
                            [line['eval_accuracy'] for line in lines if 'eval_accuracy' in line], done.stdout))
        if results[0][:2] != results[1][:2] or None in results[0][0] or not results[0][0]:
            raise Failed(f'{results[0][:2]}, without the batch {results[1][:2]}')
        if f'1 of {STEPS} batches is left out' not in results[0][2] or 'left out' in results[1][2] or '(best)' not in results[0][2]:
            raise Failed(f'says {results[0][2]}')
        return f'{len(results[0][0])} evaluations'


def checks(runner, interp):
    tests = Overflow(runner, interp)
    for model, flags in LAYOUTS:
        yield ' '.join(['overflow', model, *flags]), lambda m=model, f=flags: tests.skipped(m, f)
    for precision in ('f32', 'bf16'):
        yield f'overflow {precision} stops', lambda p=precision: tests.stops(p)
    for flags in ([], ['--mesh=data=2']):
        yield ' '.join(['overflow never finite', *flags]), lambda f=flags: tests.never_finite(f)
        yield ' '.join(['overflow evaluated', *flags]), lambda f=flags: tests.evaluated(f)
    yield 'overflow resumed', tests.resumed
