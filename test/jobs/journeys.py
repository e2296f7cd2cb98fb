#!/usr/bin/env python3
"""Nine whole jobs, each from PyTorch's module to the strict load of what was trained.

  test/jobs/journeys.py [-k WORD] [-v] [--keep FOLDER]    tools: $DPC_BIN, or build/release/bin

GPT-2 and Llama fine-tuning, timm classifiers, DLRM, T5 and BART, an LSTM, a diffusion UNet, LoRA, CLIP, and a Llama of
1.1 billion parameters that is planned for eight devices of 80 GiB. Each job exports its module, changes the module's
weights, compiles for a mesh, trains ten steps from the module's own file, saves, and loads the file into a new module
with strict=True. PyTorch trains beside it: the losses of all steps, the outputs before and after, and the last
evaluation have to agree. Needs the packages of scripts/setup --dev; test/jobs/run does it with DPC_LONG=1. Every
command is in the folder that --keep names (commands.sh). The last line printed is `N passed, N failed`.
"""
import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
try:
    import numpy as np
    import onnx_ir
    import timm  # noqa: F401, the jobs need it
    import torch
    import transformers  # noqa: F401, the jobs need it
    from safetensors.torch import load_file, save_model
except ImportError as missing:
    if __name__ != '__main__':
        raise
    local = os.path.join(HERE, '..', '..', '.venv', 'bin', 'python3')
    if os.path.exists(local) and os.path.abspath(sys.executable) != os.path.abspath(local):
        os.execv(local, [local] + sys.argv)
    print(f'skipped: the nine jobs need {missing.name}, which scripts/setup --dev brings')
    print('0 passed, 0 failed, 1 skipped')
    sys.exit(0)

import journey_jobs as jobs
import journey_modules
from programs import Failed, Programs, expect

STEPS, BATCH, HELD_OUT, TOLERANCE = 10, 4, 24, 1e-4


def inner(module):
    """The model that a file is of: the one that a wrapper calls m."""
    return getattr(module, 'm', module)


def tensors(arrays):
    return {name: torch.from_numpy(value) for name, value in arrays.items()}


def batch(arrays, index):
    return {name: value[index * BATCH:(index + 1) * BATCH] for name, value in arrays.items()}


def close(got, want, what):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    expect(got.shape == want.shape, f'{what}: shape {got.shape}, PyTorch {want.shape}')
    apart = np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)
    expect(apart < TOLERANCE, f'{what}: {apart:.1e} apart from PyTorch ({got.flat[:4]}, {want.flat[:4]})')


@contextlib.contextmanager
def quiet(folder):
    """What PyTorch and its libraries print goes to a file."""
    with (open(os.path.join(folder, 'torch.log'), 'a') as log, contextlib.redirect_stdout(log),
          contextlib.redirect_stderr(log)):
        yield


class Journey:
    """A job from the export to the strict load, in a folder of its own."""

    def __init__(self, suite, job):
        self.suite, self.job, self.folder = suite, job, suite.path(job.name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *command):
        with open(self.path('commands.sh'), 'a') as file:
            file.write(' '.join(f"'{word}'" if set(word) & set('*[') else word for word in command) + '\n')
        return self.suite.tool(*command)

    def prefixed(self, setting):
        return f',{setting}=m.' if self.prefix else ''

    def make(self):
        """The module as a user has it: not with the weights of the export."""
        torch.manual_seed(1)
        module = self.job.make()
        self.prefix = hasattr(module, 'm')
        return module

    def export(self):
        module = self.make().train(self.job.trains)
        inputs = tensors(self.job.data(np.random.default_rng(3), BATCH))
        inputs.pop('label', None)
        options, self.shapes = {}, []
        if not self.job.optimize:
            options = dict(optimize=False, dynamic_shapes={name: {0: 'batch'} for name in inputs})
            self.shapes = [f'--shape={name}:{"x".join(map(str, value.shape))}' for name, value in inputs.items()]
        with quiet(self.folder):
            torch.onnx.export(module, (), self.path('model.onnx'), kwargs=inputs, input_names=list(inputs),
                              output_names=['logits'] if self.job.loss else ['loss', 'logits'], dynamo=True,
                              verbose=False, **options)
        torch.manual_seed(2)
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.add_(0.05 * torch.randn_like(parameter))
        self.module = module

    def write(self):
        """The module's own file, and the data."""
        if self.job.sharded:
            self.weights = self.path('pretrained')
            with quiet(self.folder):
                inner(self.module).save_pretrained(self.weights, max_shard_size='4KB')
            expect('model.safetensors.index.json' in os.listdir(self.weights), 'save_pretrained has not made shards')
        else:
            self.weights = self.path('weights.safetensors')
            save_model(inner(self.module), self.weights)
        rng = np.random.default_rng(4)
        self.train_data, self.eval_data = self.job.data(rng, STEPS * BATCH), self.job.data(rng, HELD_OUT)
        self.sources = {}
        for name, data in (('data', self.train_data), ('eval-data', self.eval_data)):
            if self.job.stream:
                words = rng.integers(2, jobs.VOCABULARY, data['input_ids'].size + 1)
                words.astype('<u2').tofile(self.path(f'{name}.bin'))
                data['input_ids'] = words[:-1].reshape(-1, jobs.TOKENS)
                data['label'] = words[1:].reshape(-1, jobs.TOKENS)
                self.sources[name] = f'--{name}=tokens:{self.path(name)}.bin'
            else:
                np.savez(self.path(f'{name}.npz'), **data)
                self.sources[name] = f'--{name}={self.path(name)}.npz'

    def compile(self):
        for program, flags in (('train', self.job.flags), ('infer', [])):
            self.tool('dpc-compile', self.path('model.onnx'), '-o', self.path(program), *self.shapes, *flags).done()

    def train(self):
        common = [self.path('train'), *self.sources.values(), '--no-shuffle', f'--log={self.path("log.jsonl")}',
                  *self.job.run]
        start = f'--init-params={self.weights}{self.prefixed("add")}'
        save = f'--save-params={self.path("trained.safetensors")}{self.prefixed("strip")}'
        if self.job.best:
            common.append(f'--best={self.job.best[0].removeprefix("eval_").replace("_", "-")}')
        if not self.job.resumes:
            return self.tool('dpc-run', *common, f'--steps={STEPS}', start, save).done()
        kept = f'--checkpoint={self.path("checkpoints")}'
        self.tool('dpc-run', *common, f'--steps={STEPS // 2}', start, kept).done()
        return self.tool('dpc-run', *common, f'--steps={STEPS}', kept, '--resume', save).done()

    def read_log(self):
        with open(self.path('log.jsonl')) as file:
            return [json.loads(line) for line in file]

    def call(self, module, data):
        """Outputs and the loss of a module."""
        data = tensors(data)
        label = data.pop('label', None)
        output = module(**data)
        return (output[1], output[0]) if self.job.loss is None else (output, self.job.loss(output, label))

    def train_in_torch(self, rates):
        self.module.train(self.job.trains)
        named = [(name, p) for name, p in self.module.named_parameters() if p.requires_grad]
        optimizer = self.job.optimizer(named)
        losses = []
        for step in range(len(rates)):
            for group in optimizer.param_groups:
                group['lr'] = rates[step]
            optimizer.zero_grad()
            _, loss = self.call(self.module, batch(self.train_data, step))
            loss.backward()
            if self.job.clip:
                torch.nn.utils.clip_grad_norm_([p for _, p in named], self.job.clip)
            optimizer.step()
            losses.append(loss.item())
        return losses

    def infer(self, weights):
        inputs = []
        for name, value in batch(self.eval_data, 0).items():
            if name != 'label':
                np.save(self.path(f'{name}.npy'), value)
                inputs.append(f'--input={name}={self.path(name)}.npy')
        self.tool('dpc-run', self.path('infer'), *inputs, f'--init-params={weights}{self.prefixed("add")}',
                  f'--output=logits={self.path("logits.npy")}').done()
        return np.load(self.path('logits.npy'))

    def outputs_of(self, module):
        with torch.no_grad():
            return self.call(module.eval(), batch(self.eval_data, 0))[0].numpy()

    def evaluate(self, module):
        """What the program's evaluation reports, of a module: means over all samples, or over whole batches."""
        with torch.no_grad():
            if self.job.loss is None:
                losses = [self.call(module.eval(), batch(self.eval_data, i))[1].item() for i in range(HELD_OUT // BATCH)]
                return {'eval_loss': sum(losses) / len(losses)}
            output, loss = self.call(module.eval(), self.eval_data)
        label = torch.from_numpy(self.eval_data['label'])
        return {'eval_loss': loss.item(), **{key: metric(output, label) for key, metric in self.job.metrics.items()}}

    def kept_evaluation(self, log):
        lines = [line for line in log if 'eval_loss' in line]
        if not self.job.best:
            return lines[-1]
        key, sign = self.job.best
        return max(lines, key=lambda line: sign * line[key])

    def load(self):
        """A new module with what was saved, whose state_dict it has to be."""
        module = self.make()
        saved = load_file(self.path('trained.safetensors'))
        inner(module).load_state_dict(saved, strict=True)
        return module

    def check_adapters(self):
        """Adapters alone, from an evaluation's program of the same parameters."""
        self.tool('dpc-run', self.path('infer'), f'--init-params={self.path("trained.safetensors")}{self.prefixed("add")}',
                  f'--save-params={self.path("adapters.safetensors")}{self.prefixed("strip")},'
                  f'only={self.job.adapters}').done()
        saved = load_file(self.path('adapters.safetensors'))
        expect(saved and all('lora_' in name for name in saved), f'saved {sorted(saved)}')
        missing, unexpected = inner(self.make()).load_state_dict(saved, strict=False)
        expect(not unexpected and not any('lora_' in name for name in missing), f'lacks {missing}, has {unexpected}')

    def check_frozen(self, module):
        before = {name: p for name, p in inner(self.module).named_parameters() if not p.requires_grad}
        after = dict(inner(module).named_parameters())
        for name, value in before.items():
            expect(torch.equal(value, after[name]), f'{name} is frozen and has changed')

    def check(self):
        os.makedirs(self.folder)
        self.export()
        self.write()
        self.compile()
        close(self.infer(self.weights), self.outputs_of(self.module), 'outputs before')
        self.train()
        log = self.read_log()
        steps = [line for line in log if 'loss' in line]
        expect([line['step'] for line in steps] == list(range(1, STEPS + 1)), f'steps {[line["step"] for line in steps]}')
        close([line['loss'] for line in steps], self.train_in_torch([line['learning_rate'] for line in steps]),
              'losses of the steps')
        loaded = self.load()
        close(self.infer(self.path('trained.safetensors')), self.outputs_of(loaded), 'outputs after the strict load')
        if not self.job.best:
            close(self.outputs_of(loaded), self.outputs_of(self.module), 'outputs after training')
        reported = self.kept_evaluation(log)
        for key, value in self.evaluate(loaded).items():
            close(reported[key], value, key)
        self.check_frozen(loaded)
        if self.job.adapters:
            self.check_adapters()


def save_without_weights(program, path, buffers):
    """Says what parameters there are, in a file that need not be there, and the values of buffers."""
    for name, value in program.model.graph.initializers.items():
        if name in buffers:
            value.const_value = onnx_ir.tensor(buffers[name].numpy(), name=name)
        else:
            value.const_value = onnx_ir.ExternalTensor('model.onnx.data', None, None, value.dtype, shape=value.shape, name=name)
    onnx_ir.save(program.model, path)


def check_plan(suite):
    """A Llama of 1.1 billion parameters for eight devices of 80 GiB: compiled on a machine that holds no weights."""
    folder = suite.path('llama-1b')
    os.makedirs(folder)
    path = os.path.join(folder, 'model.onnx')
    module, buffers = journey_modules.large_llama()
    with quiet(folder):
        made = torch.onnx.export(module, (), kwargs={'input_ids': torch.zeros(2, 128, dtype=torch.long, device='meta')},
                                 input_names=['input_ids'], output_names=['logits'], dynamo=True, verbose=False,
                                 dynamic_shapes={'input_ids': {0: 'batch'}}, optimize=False)
    save_without_weights(made, path, buffers)
    command = [path, '-o', os.path.join(folder, 'train'), '--shape=input_ids:64x128', *jobs.LEARNS, '--params=none',
               '--device-memory=80GB', '--explain']
    count = sum(p.numel() for p in module.parameters())
    for mesh, flags in (('data=8', ['--zero=3']), ('data=2,model=4', [])):
        with open(os.path.join(folder, 'commands.sh'), 'a') as file:
            file.write(' '.join(['dpc-compile', *command, f'--mesh={mesh}', *flags]) + '\n')
        page = suite.tool('dpc-compile', *command, f'--mesh={mesh}', *flags).done().out
        for words in (f'{count:,}', f'mesh {mesh.replace(",", ", ")}', 'MEMORY OF A RANK'):
            expect(words in page, f'no "{words}" on the page of {mesh}')
        together = next(line.split() for line in page.splitlines() if line.split()[:1] == ['together'])
        expect(together[2] == 'GiB' and 2 * 4 * count / 8 / 2**30 < float(together[1]) < 80, f'a rank needs {together[1:]}')
        suite.run(os.path.join(folder, 'train'), '--verify').done().says('plan of 8 ranks: OK')


def reporting(check):
    """A check whose errors in PyTorch (of an export, of a strict load) are failures of the job."""
    def run():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                check()
        except RuntimeError as error:
            raise Failed(f'{type(error).__name__}: {error}') from error
    return run


def checks(suite):
    for job in jobs.JOBS:
        yield f'journey {job.name}', reporting(Journey(suite, job).check)
    yield 'journey llama-1b', reporting(lambda: check_plan(suite))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-k', metavar='WORD', default='', help='only jobs whose name has WORD')
    parser.add_argument('-v', action='store_true', help='print jobs that pass too')
    parser.add_argument('--keep', metavar='FOLDER', help='leave all files there')
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, check in checks(Programs(os.path.abspath(options.keep or temporary))):
            if options.k not in name:
                continue
            try:
                check()
                passed += 1
                if options.v:
                    print(f'ok   {name}', flush=True)
            except (Failed, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f'FAIL {name}: {error}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
