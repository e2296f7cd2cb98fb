"""Weights in and out of PyTorch: the file of a module's state_dict, ten steps, and a file for load_state_dict."""
import importlib.util
import json
import lzma
import os
import subprocess
import sys
import zlib

import numpy as np
import onnx

from programs import expect, read_safetensors, write_safetensors

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, 'roundtrip')
HOWS = ('default', 'unoptimized')
FAMILIES = ('gpt2', 'llama', 't5', 'bart', 'bert', 'vit', 'swin', 'convnext', 'resnet', 'lstm', 'clip', 'unet')
# Whose default export has lost what the module's file holds: tables of positions cut to what is looked up, batch norms
# folded into convolutions, an exponential of a parameter.
REFUSED = ('gpt2', 't5', 'bart', 'bert', 'swin', 'resnet', 'clip')
STEPS, BATCH, TOLERANCE = 10, 4, 1e-4
LEARNS = ['--loss=cross-entropy', '--optimizer=adamw,lr=0.01']
TYPES = {'float32': np.float32, 'float64': np.float64, 'int64': np.int64}


def weights(facts):
    """Values for a module's state_dict, by the names alone; names of one tensor have one value."""
    first = {name: group[0] for group in facts['tied'] for name in group}
    made = {}
    for name, (dtype, shape, centre) in facts['names'].items():
        if name in facts['integers']:
            made[name] = np.array(facts['integers'][name], TYPES[dtype]).reshape(shape)
            continue
        noise = np.random.RandomState(zlib.crc32(first.get(name, name).encode())).standard_normal(shape)
        made[name] = np.asarray(centre + 0.1 * noise, TYPES[dtype])
    return made


def samples(facts, count):
    """Values for the inputs of a model."""
    made = {}
    for name, (shape, high) in facts['inputs'].items():
        rng, shape = np.random.RandomState(zlib.crc32(name.encode())), [count, *shape[1:]]
        made[name] = rng.randint(2, high, shape) if high else rng.standard_normal(shape).astype(np.float32)
    return made


def labels(facts, count):
    """Classes of the logits: random, but each image's own text where they are compared with each other."""
    shape = facts['logits']['shape']
    classes, places = (shape[1], shape[2:]) if len(shape) == 4 else (shape[-1], shape[1:-1])
    if len(facts['inputs']) == 2 and shape == [BATCH, BATCH]:
        return np.arange(count) % BATCH
    return np.random.RandomState(3).randint(0, classes, [count, *places])


def cross_entropy(logits, label):
    """The mean over all labels, in f64."""
    logits = np.moveaxis(logits.astype(np.float64), 1, -1) if logits.ndim == 4 else logits.astype(np.float64)
    highest = logits.max(-1, keepdims=True)
    logs = logits - highest - np.log(np.exp(logits - highest).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, label[..., None], -1).mean()


def has_torch():
    return all(importlib.util.find_spec(name) for name in ('torch', 'transformers', 'timm', 'torchvision', 'safetensors'))


class Family:
    """A module whose weights go into a program and out of it."""

    def __init__(self, suite, name, how):
        self.suite, self.name, self.how = suite, name, how
        with open(os.path.join(FOLDER, f'{name}.json')) as file:
            self.facts = json.load(file)
        self.stem = f'{name}-{how}'

    def path(self, suffix):
        return self.suite.path(self.stem + suffix)

    def unpack(self):
        with lzma.open(os.path.join(FOLDER, f'{self.name}-{self.how}.onnx.xz')) as packed, open(self.path('.onnx'), 'wb') as file:
            file.write(packed.read())

    def compile(self, program, *flags):
        shapes = [f'--shape={name}:{"x".join(map(str, shape))}' for name, (shape, _) in self.facts['inputs'].items()]
        return self.suite.tool('dpc-compile', self.path('.onnx'), '-o', self.path(program), *shapes, *flags)

    def settings(self, setting):
        return f',{setting}={self.facts["prefix"]}' if self.facts['prefix'] else ''

    def write_data(self):
        for suffix, count in (('.npz', STEPS * BATCH), ('-held-out.npz', BATCH)):
            np.savez(self.path(suffix), label=labels(self.facts, count), **samples(self.facts, count))
        for name, value in samples(self.facts, BATCH).items():
            np.save(self.path(f'-{name}.npy'), value)

    def write_state(self):
        """The module's own file, as safetensors writes it: of names that are one tensor it has the first."""
        others = {name for group in self.facts['tied'] for name in group[1:]}
        values = {name: value for name, value in weights(self.facts).items() if name not in others}
        write_safetensors(self.path('.safetensors'), values)

    def infer(self, weights_file, out):
        inputs = [f'--input={name}={self.path(f"-{name}.npy")}' for name in self.facts['inputs']]
        self.suite.run(self.path('-infer'), *inputs, f'--init-params={weights_file}{self.settings("add")}',
                       f'--output=logits={self.path(out)}').done()
        return np.load(self.path(out))

    def check_refused(self):
        """The default export lost what it takes, and says which one keeps it: before the program, or before a step."""
        run = self.compile('-train', *LEARNS)
        if run.code == 0:
            run = self.train()
        run.refused('optimize=False')

    def train(self):
        return self.suite.train(self.path('-train'), None, f'--steps={STEPS}', f'--eval-data={self.path("-held-out.npz")}',
                                f'--init-params={self.path(".safetensors")}{self.settings("add")}',
                                f'--save-params={self.path("-trained.safetensors")}{self.settings("strip")}',
                                data=self.path('.npz'))

    def check(self):
        self.unpack()
        self.write_data()
        self.write_state()
        if self.how == 'default' and self.name in REFUSED:
            return self.check_refused()
        self.compile('-train', *LEARNS).done()
        self.compile('-infer').done()
        want = np.array(self.facts['logits']['values']).reshape(self.facts['logits']['shape'])
        got = self.infer(self.path('.safetensors'), '-before.npy')
        expect(np.abs(got - want).max() < TOLERANCE * np.abs(want).max(),
               f'logits differ from PyTorch\'s by {np.abs(got - want).max():.1e} of {np.abs(want).max():.1e}')
        loss = float(self.train().done().out.split(f'eval at step {STEPS}: loss ')[1].split()[0])
        self.check_saved()
        after = self.infer(self.path('-trained.safetensors'), '-after.npy')
        expect(np.abs(after - got).max() > 100 * TOLERANCE * np.abs(want).max(), 'training has not changed the logits')
        held = cross_entropy(after, labels(self.facts, BATCH))
        expect(abs(loss - held) < TOLERANCE * held, f'evaluation gives {loss}, but the saved file gives {held}')

    def check_saved(self):
        """Names, types and shapes are the state_dict's. BatchNorm's count of batches may be absent: PyTorch sets it."""
        saved = read_safetensors(self.path('-trained.safetensors'))
        own = {name: (dtype, shape) for name, (dtype, shape, _) in self.facts['names'].items()
               if not name.endswith('num_batches_tracked')}
        got = {name: (value.dtype.name, list(value.shape)) for name, value in saved.items()}
        expect(got == own, f'lacks {sorted(set(own) - set(got))}, has {sorted(set(got) - set(own))}, differs in '
                           f'{sorted(name for name in set(own) & set(got) if own[name] != got[name])}')
        for group in self.facts['tied']:
            for name in group[1:]:
                expect(np.array_equal(saved[name], saved[group[0]]), f'{name} and {group[0]} differ')
        for name in set(self.facts['integers']) & set(saved):
            expect(saved[name].tolist() == self.facts['integers'][name], f'{name} has other values')


def check_without_weights(suite):
    """--params=none needs no file of external data: what is trained is that of a program that has the weights."""
    saved = []
    for folder, flags in (('with', []), ('without', ['--params=none'])):
        os.mkdir(suite.path(folder))
        family = Family(suite, 'llama', 'unoptimized')
        family.stem = os.path.join(folder, family.stem)
        family.unpack()
        family.write_data()
        family.write_state()
        if flags:
            model = onnx.load(family.path('.onnx'))
            onnx.save(model, family.path('.onnx'), save_as_external_data=True, location='weights.data', size_threshold=64)
            os.remove(suite.path(os.path.join(folder, 'weights.data')))
            family.compile('-train', *LEARNS).refused("external data file 'weights.data': No such file")
        family.compile('-train', *LEARNS, *flags).done()
        family.train().done()
        saved.append(read_safetensors(family.path('-trained.safetensors')))
    expect(set(saved[0]) == set(saved[1]) and all(np.array_equal(value, saved[1][name]) for name, value in saved[0].items()),
           'other parameters than of a program with weights')
    # What no file of parameters brings is needed.
    family.unpack()
    model = onnx.load(family.path('.onnx'))
    onnx.save(model, family.path('.onnx'), save_as_external_data=True, location='all.data', size_threshold=0)
    os.remove(suite.path('without/all.data'))
    run = family.compile('-train', *LEARNS, '--params=none')
    expect(run.code == 1 and "inv_freq' is no parameter, and its values are in the file of external data" in run.err,
           f'exit {run.code}: {run.err}')


def check_in_torch(families):
    """PyTorch itself: load_state_dict(strict=True) of the saved file, and the module's logits."""
    files = [[f.name, f.path('-trained.safetensors'), f.path('-after.npy')]
             for f in families if os.path.exists(f.path('-after.npy'))]
    if not files:
        return
    done = subprocess.run([sys.executable, os.path.join(HERE, 'record_roundtrip.py'), '--check'], input=json.dumps(files),
                          capture_output=True, text=True, timeout=600)
    expect(done.returncode == 0, done.stdout[-1000:] + done.stderr[-1000:])


def checks(suite):
    families = []
    for name in FAMILIES:
        for how in HOWS:
            families.append(Family(suite, name, how))
            yield f'roundtrip {name} {how}', families[-1].check
    yield 'roundtrip without weights', lambda: check_without_weights(suite)
    if has_torch():
        yield 'roundtrip strict load in PyTorch', lambda: check_in_torch(families)
