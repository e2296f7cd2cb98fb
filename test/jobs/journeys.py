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
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
NEEDED = ('numpy', 'onnx', 'torch', 'torchvision', 'transformers', 'timm', 'safetensors', 'onnxscript')


def missing():
    """Packages that are not installed."""
    return [name for name in NEEDED if not importlib.util.find_spec(name)]


if __name__ == '__main__' and missing():
    local = os.path.join(HERE, '..', '..', '.venv', 'bin', 'python3')
    if os.path.exists(local) and os.path.abspath(sys.executable) != os.path.abspath(local):
        os.execv(local, [local] + sys.argv)
    print(f'no {", ".join(missing())}: scripts/setup --dev brings what the journeys need')
    print('0 passed, 0 failed, 10 skipped')
    sys.exit(0)

import numpy as np
import onnx
import torch
from safetensors.torch import load_file, save_model
from torch.nn import functional as F

import journey_modules as modules
from programs import Failed, Programs, expect, read_safetensors

STEPS, BATCH, HELD_OUT, TOLERANCE = 10, 4, 8, 1e-4
VOCABULARY, TOKENS = modules.VOCABULARY, modules.TOKENS


def tokens(rng, count, length=TOKENS):
    return rng.integers(2, VOCABULARY, (count, length))


def images(rng, count, size):
    return rng.standard_normal((count, 3, size, size)).astype(np.float32)


def text_data(rng, count):
    return {'input_ids': tokens(rng, count), 'label': tokens(rng, count)}


def pair_data(rng, count):
    return {'input_ids': tokens(rng, count), 'decoder_input_ids': tokens(rng, count, 4), 'label': tokens(rng, count, 4)}


def class_data(rng, count):
    return {'input_ids': tokens(rng, count), 'label': rng.integers(0, VOCABULARY, count)}


def image_data(size):
    return lambda rng, count: {'x': images(rng, count, size), 'label': rng.integers(0, 7, count)}


def click_data(rng, count):
    return {'dense': rng.standard_normal((count, 5)).astype(np.float32), 'users': rng.integers(0, 24, (count, 3)),
            'items': rng.integers(0, 16, (count, 2)), 'label': rng.integers(0, 2, count).astype(np.float32)}


def noise_data(rng, count):
    noise = images(rng, count, 8)
    return {'images': images(rng, count, 8), 'noise': noise, 'steps': rng.integers(0, 10, count), 'label': noise}


def captioned_data(rng, count):
    return {'input_ids': tokens(rng, count), 'pixel_values': images(rng, count, 8)}


def cross_entropy(**options):
    """The loss of logits whose classes are last."""
    def loss(logits, label):
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), label.reshape(-1), **options)
    return loss


def adamw(lr, **options):
    return lambda p: torch.optim.AdamW(p, lr=lr, **{'weight_decay': 0.01, **options})


class Job:
    """One module and how it is trained, in the words of dpc-compile and of PyTorch."""

    def __init__(self, name, make, data, loss, optimizer, flags, **options):
        self.name, self.make, self.data, self.loss, self.optimizer, self.flags = name, make, data, loss, optimizer, flags
        self.optimize = options.pop('optimize', False)    # what the exporter is told
        self.trains = options.pop('trains', False)        # the mode of the export and of PyTorch's training
        self.clip = options.pop('clip', None)
        self.run_flags = options.pop('run', [])
        self.resumes = options.pop('resumes', False)      # half of the steps, a checkpoint, and the rest
        self.best = options.pop('best', None)             # key and sign of the evaluation that is kept
        self.metrics = options.pop('metrics', {})         # keys of the log, and the number from outputs and labels
        self.adapters = options.pop('adapters', None)     # glob of what is also saved by itself
        self.sharded = options.pop('sharded', False)      # loads a folder of save_pretrained
        self.stream = options.pop('stream', False)        # a file of tokens, in which labels are the next ones
        assert not options, options

    def outputs(self):
        return ['loss', 'logits'] if self.loss is None else ['logits']


def groups_of(lr, module):
    """AdamW without decay for the biases and norms."""
    plain = [p for n, p in module if n.endswith('.bias') or '.ln_' in n]
    ids = {id(p) for p in plain}
    return torch.optim.AdamW([{'params': plain, 'weight_decay': 0.}, {'params': [p for _, p in module if id(p) not in ids]}],
                             lr=lr, weight_decay=0.1)


def accuracy(output, label):
    return (output.argmax(-1) == label).double().mean().item()


def top_5(output, label):
    return (output.topk(5).indices == label[..., None]).any(-1).double().mean().item()


def perplexity(output, label):
    return cross_entropy()(output.double(), label).exp().item()


def binary_accuracy(output, label):
    return ((output > 0) == (label > 0.5)).double().mean().item()


LEARNS = ['--loss=cross-entropy', '--optimizer=adamw,lr=0.01']
JOBS = (
    Job('gpt2', modules.family('gpt2'), text_data, cross_entropy(), lambda p: groups_of(0.01, p),
        ['--loss=cross-entropy', '--optimizer=adamw,lr=0.01,weight-decay=0.1', '--param-group=*.bias,weight-decay=0',
         '--param-group=*.ln_*,weight-decay=0', '--clip-grad-norm=1', '--metric=perplexity',
         '--lr-schedule=cosine,warmup=3,total=10', '--mesh=data=2'],
        clip=1., resumes=True, stream=True, metrics={'eval_perplexity': perplexity}),
    Job('llama', modules.family('llama'), text_data, cross_entropy(), adamw(0.01),
        [*LEARNS, '--mesh=data=2,model=2', '--zero=3'], optimize=True, sharded=True, metrics={'eval_accuracy': accuracy}),
    Job('timm-resnet', modules.timm_model('resnet10t', num_classes=7, channels=(4, 8, 8, 8), stem_width=4),
        image_data(16), cross_entropy(label_smoothing=0.1), lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
        ['--loss=cross-entropy,label-smoothing=0.1', '--optimizer=momentum,lr=0.05', '--metric=top-5', '--mesh=data=2'],
        trains=True, run=['--eval-every=2'], best=('eval_accuracy', 1), metrics={'eval_accuracy': accuracy, 'eval_top_5': top_5}),
    Job('timm-convnext', modules.timm_model('convnext_atto', num_classes=7, depths=(1, 1, 1, 1), dims=(4, 8, 8, 8)),
        image_data(32), cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=data=2', '--microbatches=2'], optimize=True,
        metrics={'eval_accuracy': accuracy}),
    Job('dlrm', modules.Recommender, click_data, F.binary_cross_entropy_with_logits, lambda p: torch.optim.Adagrad(p, lr=0.05),
        ['--loss=bce-with-logits', '--optimizer=adagrad,lr=0.05', '--metric=binary-accuracy', '--mesh=model=2'], optimize=True,
        run=['--eval-every=2', '--patience=5'], best=('eval_binary_accuracy', 1),
        metrics={'eval_binary_accuracy': binary_accuracy}),
    Job('t5', modules.family('t5'), pair_data, cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=model=2']),
    Job('bart', modules.family('bart'), pair_data, cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=data=2']),
    Job('lstm', modules.Classes, class_data, cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=data=2'], optimize=True,
        metrics={'eval_accuracy': accuracy}, resumes=True),
    Job('diffusion', modules.Diffusion, noise_data, F.mse_loss, adamw(0.01), ['--loss=mse', '--optimizer=adamw,lr=0.01', '--mesh=data=2'],
        run=['--eval-every=2'], best=('eval_loss', -1)),
    Job('lora', modules.adapted, text_data, cross_entropy(), adamw(0.05),
        ['--loss=cross-entropy', '--optimizer=adamw,lr=0.05', '--trainable=*', '--frozen=*', '--trainable=*.lora_*', '--mesh=model=2'],
        adapters='*.lora_*'),
    Job('clip', modules.Contrast, captioned_data, None, adamw(0.005), ['--loss=output:loss', '--optimizer=adamw,lr=0.005', '--mesh=data=2']),
)


def inner(module):
    """The model that a file is of: the one that a wrapper calls m."""
    return getattr(module, 'm', module)


def tensors(arrays):
    return {name: torch.from_numpy(value) for name, value in arrays.items()}


def close(got, want, what):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    expect(got.shape == want.shape, f'{what}: shape {got.shape}, PyTorch {want.shape}')
    apart = np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)
    expect(apart < TOLERANCE, f'{what}: {apart:.1e} apart from PyTorch ({got.reshape(-1)[:4]}, {want.reshape(-1)[:4]})')


class Journey:
    """A job from the export to the strict load, in a folder of its own."""

    def __init__(self, suite, job):
        self.suite, self.job, self.folder = suite, job, suite.path(job.name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *command):
        with open(self.path('commands.sh'), 'a') as file:
            file.write(' '.join(f"'{word}'" if set(word) & set('*[') else word for word in command) + '\n')
        return self.suite.tool(*(f'{word}' for word in command))

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
        inputs = {name: value for name, value in tensors(self.job.data(np.random.default_rng(3), BATCH)).items() if name != 'label'}
        options = {} if self.job.optimize else dict(optimize=False, dynamic_shapes={name: {0: 'batch'} for name in inputs})
        with open(self.path('export.log'), 'w') as log, contextlib.redirect_stdout(log):
            torch.onnx.export(module, (), self.path('model.onnx'), kwargs=inputs, input_names=list(inputs),
                              output_names=self.job.outputs(), dynamo=True, verbose=False, **options)
        self.shapes = [] if self.job.optimize else [f'--shape={name}:{"x".join(map(str, value.shape))}' for name, value in inputs.items()]
        torch.manual_seed(2)
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.add_(0.05 * torch.randn_like(parameter))
        self.module = module

    def write(self):
        """The module's own file, and the data."""
        if self.job.sharded:
            self.weights = self.path('pretrained')
            inner(self.module).save_pretrained(self.weights, max_shard_size='4KB')
            expect(os.path.exists(os.path.join(self.weights, 'model.safetensors.index.json')), 'save_pretrained has not made shards')
        else:
            self.weights = self.path('weights.safetensors')
            save_model(inner(self.module), self.weights)
        rng = np.random.default_rng(4)
        self.train_data, self.eval_data = self.job.data(rng, STEPS * BATCH), self.job.data(rng, HELD_OUT)
        self.sources = {}
        for name, data in (('data', self.train_data), ('eval-data', self.eval_data)):
            if self.job.stream:
                words = rng.integers(2, VOCABULARY, data['input_ids'].size + 1)
                words.astype('<u2').tofile(self.path(f'{name}.bin'))
                data['input_ids'], data['label'] = words[:-1].reshape(-1, TOKENS), words[1:].reshape(-1, TOKENS)
                self.sources[name] = f'--{name}=tokens:{self.path(name)}.bin'
            else:
                np.savez(self.path(f'{name}.npz'), **data)
                self.sources[name] = f'--{name}={self.path(name)}.npz'

    def compile(self):
        for program, flags in (('train', self.job.flags), ('infer', [])):
            self.tool('dpc-compile', self.path('model.onnx'), '-o', self.path(program), *self.shapes, *flags).done()

    def train(self):
        common = [self.path('train'), self.sources['data'], self.sources['eval-data'], '--no-shuffle', f'--log={self.path("log.jsonl")}', *self.job.run_flags]
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
        takes_names = self.job.name == 'gpt2'
        optimizer = self.job.optimizer(named if takes_names else [p for _, p in named])
        losses = []
        for step in range(len(rates)):
            for group in optimizer.param_groups:
                group['lr'] = rates[step]
            optimizer.zero_grad()
            _, loss = self.call(self.module, {k: v[step * BATCH:(step + 1) * BATCH] for k, v in self.train_data.items()})
            loss.backward()
            if self.job.clip:
                torch.nn.utils.clip_grad_norm_([p for _, p in named], self.job.clip)
            optimizer.step()
            losses.append(loss.item())
        return losses

    def infer(self, weights):
        inputs = []
        for name, value in self.eval_data.items():
            if name != 'label':
                np.save(self.path(f'{name}.npy'), value[:BATCH])
                inputs.append(f'--input={name}={self.path(name)}.npy')
        self.tool('dpc-run', self.path('infer'), *inputs, f'--init-params={weights}{self.prefixed("add")}', f'--output=logits={self.path("logits.npy")}').done()
        return np.load(self.path('logits.npy'))

    def outputs_of(self, module):
        with torch.no_grad():
            return self.call(module.eval(), {k: v[:BATCH] for k, v in self.eval_data.items()})[0].numpy()

    def evaluate(self, module):
        """What the program's evaluation reports, of a module: means over all samples, or over whole batches."""
        with torch.no_grad():
            if self.job.loss is None:
                parts = [self.call(module.eval(), {k: v[i:i + BATCH] for k, v in self.eval_data.items()})[1].item() for i in range(0, HELD_OUT, BATCH)]
                return {'eval_loss': sum(parts) / len(parts)}
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
                  f'--save-params={self.path("adapters.safetensors")}{self.prefixed("strip")},only={self.job.adapters}').done()
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
        close([line['loss'] for line in steps], self.train_in_torch([line['learning_rate'] for line in steps]), 'losses of the steps')
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


def add_initializers(path, module, buffers):
    """Says what a graph without values has: parameters in a file that need not be there, and buffers."""
    model, offset = onnx.load(path), 0
    for name, parameter in module.named_parameters():
        tensor = model.graph.initializer.add(name=name, dims=parameter.shape, data_type=onnx.TensorProto.FLOAT,
                                             data_location=onnx.TensorProto.EXTERNAL)
        for key, value in (('location', 'model.onnx.data'), ('offset', offset), ('length', 4 * parameter.numel())):
            tensor.external_data.add(key=key, value=str(value))
        offset += 4 * parameter.numel()
    model.graph.initializer.extend(onnx.numpy_helper.from_array(value.numpy(), name) for name, value in buffers.items())
    onnx.save(model, path)


def check_plan(suite):
    """A Llama of 1.1 billion parameters for eight devices of 80 GiB: compiled on a machine that holds no weights."""
    folder = suite.path('llama-1b')
    os.makedirs(folder)
    path = os.path.join(folder, 'model.onnx')
    module, buffers = modules.large_llama()
    with open(os.path.join(folder, 'export.log'), 'w') as log, contextlib.redirect_stdout(log):
        made = torch.onnx.export(module, (), kwargs={'input_ids': torch.zeros(2, 128, dtype=torch.long, device='meta')},
                                 input_names=['input_ids'], output_names=['logits'], dynamo=True, verbose=False,
                                 dynamic_shapes={'input_ids': {0: 'batch'}}, optimize=False)
    made.save(path, include_initializers=False)
    add_initializers(path, module, buffers)
    command = [path, '-o', os.path.join(folder, 'train'), '--shape=input_ids:64x128', *LEARNS, '--params=none',
               '--device-memory=80GiB', '--explain']
    count = sum(p.numel() for p in module.parameters())
    for mesh, flags in (('data=8', ['--zero=3']), ('data=2,model=4', [])):
        with open(os.path.join(folder, 'commands.sh'), 'a') as file:
            file.write(' '.join(['dpc-compile', *command, f'--mesh={mesh}', *flags]) + '\n')
        page = suite.tool('dpc-compile', *command, f'--mesh={mesh}', *flags).done().says(f'{count:,}', f'mesh {mesh}', 'MEMORY OF A RANK').out
        together = next(line.split() for line in page.splitlines() if line.split()[:1] == ['together'])
        expect(together[2] == 'GiB' and 2 * 4 * count / 8 / 2**30 < float(together[1]) < 80, f'a rank needs {together[1:]}')
        suite.run(os.path.join(folder, 'train'), '--verify').done().says('plan of 8 ranks: OK')


def checks(suite):
    for job in JOBS:
        yield f'journey {job.name}', Journey(suite, job).check
    yield 'journey llama-1b', lambda: check_plan(suite)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-k', metavar='WORD', default='', help='only jobs whose name has WORD')
    parser.add_argument('-v', action='store_true', help='print jobs that pass too')
    parser.add_argument('--keep', metavar='FOLDER', help='leave all files there')
    options = parser.parse_args()
    warnings.simplefilter('ignore')
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
            except (Failed, RuntimeError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f'FAIL {name}: {error}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
