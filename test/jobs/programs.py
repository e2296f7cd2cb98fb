"""Programs, data and files of the tests of this folder."""
import importlib.machinery
import importlib.util
import json
import os
import struct
import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader('interp', os.path.join(HERE, '..', 'interp', 'run'))
interp = importlib.util.module_from_spec(importlib.util.spec_from_loader('interp', loader))
loader.exec_module(interp)

ROOT, MODELS, Failed = interp.ROOT, interp.MODELS, interp.Failed
read_safetensors = interp.read_safetensors
SHAPES = {'mlp': ['--shape=x:8x16'], 'bn_cnn': ['--shape=x:8x3x12x12']}
NAMES = {'<f8': 'F64', '<f4': 'F32', '<i8': 'I64'}


def expect(condition, message):
    if not condition:
        raise Failed(message)


def model_of(case):
    return os.path.join(MODELS, case, 'model.onnx')


def data_of(case):
    return os.path.join(MODELS, case, 'data.npz')


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, value in tensors.items():
        header[name] = {'dtype': NAMES[value.dtype.str], 'shape': list(value.shape),
                        'data_offsets': [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text)
        for value in tensors.values():
            file.write(np.ascontiguousarray(value).tobytes())
    return path


def initializers(case):
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(model_of(case)).graph.initializer}


class Run:
    """What a command did."""

    def __init__(self, command, folder, timeout=300):
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=folder,
                              stdin=subprocess.DEVNULL)
        self.command = ' '.join(os.path.basename(command[0]) if i == 0 else c for i, c in enumerate(command))
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def done(self):
        expect(self.code == 0, f'{self.command}: exit {self.code}: {self.err.strip()[-500:]}')
        return self

    def refused(self, *words, code=1):
        """One line on stderr with all of the words."""
        expect(self.code == code, f'{self.command}: exit {self.code}, not {code}: {self.out[-300:]}{self.err[-500:]}')
        expect(len(self.err.strip().splitlines()) == 1, f'{self.command}: not one line: {self.err}')
        for word in words:
            expect(word in self.err, f'{self.command}: no "{word}" in: {self.err}')
        return self

    def says(self, *words):
        for word in words:
            expect(word in self.out, f'{self.command}: no "{word}" in: {self.out}')
        return self


class Programs:
    def __init__(self, folder):
        self.tools, self.folder = interp.find_tools(), folder
        self.made = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name, *arguments):
        return Run([os.path.join(self.tools, name), *arguments], self.folder)

    def compiled(self, case, *flags, model=None, shapes=None):
        """The program of these flags, compiled once; of the case's shapes, unless others are given."""
        key = (model or case, *flags)
        if key not in self.made:
            self.made[key] = self.path(f'program{len(self.made)}')
            self.tool('dpc-compile', model or model_of(case), '-o', self.made[key], *(SHAPES.get(case, []) if shapes is None else shapes), *flags).done()
        return self.made[key]

    def trainer(self, case, *flags, model=None, optimizer='adam,lr=0.01'):
        return self.compiled(case, '--loss=cross-entropy', f'--optimizer={optimizer}', *flags, model=model)

    def run(self, program, *arguments):
        return self.tool('dpc-run', program, *arguments)

    def train(self, program, case, *arguments, data=None):
        """A run in file order; --steps and --log are the caller's."""
        return self.run(program, f'--data={data or data_of(case)}', '--no-shuffle', *arguments)

    def log(self, name):
        with open(self.path(name)) as file:
            return [json.loads(line) for line in file]

    def listing(self):
        """Every file and folder, with its contents."""
        found = {}
        for folder, folders, files in os.walk(self.folder):
            for name in folders:
                found[os.path.join(folder, name)] = None
            for name in files:
                path = os.path.join(folder, name)
                with open(path, 'rb') as file:
                    found[path] = hash(file.read())
        return found
