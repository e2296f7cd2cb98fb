"""Models compiled to a level, and what their text says of layouts."""
import collections
import functools
import os
import re
import shutil
import subprocess

import onnx

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'models')
LIMIT = 300  # seconds: more is a hang
CROSS = '--loss=cross-entropy'
ADAMW, MOMENTUM, SGD = '--optimizer=adamw,lr=0.001', '--optimizer=momentum,lr=0.1', '--optimizer=sgd,lr=0.1'
TRAINING = {
    'gpt2': (CROSS, ADAMW), 'llama': (CROSS, ADAMW), 'bert': (CROSS, ADAMW), 'vit': (CROSS, ADAMW),
    'mlp': (CROSS, MOMENTUM), 'resnet': (CROSS, MOMENTUM), 'dlrm': ('--loss=bce-with-logits', SGD),
    'experts': (CROSS, ADAMW), 'masked_head': ('--loss=output:loss', ADAMW)}
ELEMENT_BYTES = {'f64': 8, 'f32': 4, 'i64': 8, 'i32': 4, 'i1': 1, 'bf16': 2, 'f16': 2}


class Failed(Exception):
    pass


class Program:
    """The text of a program at level `placed`: what its @step is expected to cost, and how its parameters lie."""

    def __init__(self, text, mesh):
        self.text = text
        self.axes = {name: int(size) for name, size in (axis.split('=') for axis in mesh.split(','))}
        self.step = text[text.index('func.func @step('):]
        end = self.step.find('func.func @eval(')
        self.step = self.step if end < 0 else self.step[:end]
        cost = re.search(r'#dist\.cost<computing = (\d+), moving = (\d+), sent = (\d+)>', self.text[self.text.index('@step('):])
        if not cost:
            raise Failed('no #dist.cost on @step')
        self.computing, self.moving, self.sent = (int(number) for number in cost.groups())
        self.seconds = (self.computing + self.moving) / 1e9

    def parameters(self):
        """(argument, name, bytes, layout) of each."""
        for argument, shape, attributes in re.findall(r'(%arg\d+): tensor<([^>]*)> \{([^{}]*)\}', self.step):
            name = re.search(r'#nn\.arg<parameter "([^"]*)"', attributes)
            layout = re.search(r'#dist\.layout<"([^"]*)">', attributes)
            if name and layout:
                *extents, element = shape.split('x')
                count = 1
                for extent in extents:
                    count *= int(extent)
                yield argument, name.group(1), count * ELEMENT_BYTES[element], layout.group(1)

    def devices(self, layout, axes):
        """How many devices along `axes` share something laid out so."""
        count = 1
        for axis in axes:
            if re.search(rf'[:,]\s*{axis}\s*[,)]', layout.split(' partial')[0]):
                count *= self.axes[axis]
        return count

    def held(self, axes):
        """Part of all parameters' bytes that a device holds or reads, of what `axes` could divide."""
        reads = collections.defaultdict(list)
        sources = {}  # what a value is a conversion of
        for value, source in re.findall(r'(%\w+) = nn\.convert (%\w+) ', self.step):
            sources[value] = sources.get(source, source)
        for value, layout in re.findall(r'dist\.reshard (%\w+) from <"[^"]*"> to <"([^"]*)">', self.step):
            reads[sources.get(value, value)].append(layout)
        total = held = 0
        for argument, _, size, layout in self.parameters():
            total += size
            held += size / min(self.devices(each, axes) for each in [layout, *reads[argument]])
        return held / total


class Compiler:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        size = 0
        for name in os.listdir(MODELS):
            shutil.copy(os.path.join(MODELS, name), folder)
            for tensor in onnx.load(os.path.join(MODELS, name), load_external_data=False).graph.initializer:
                place = {entry.key: entry.value for entry in tensor.external_data}
                if place:
                    size = max(size, int(place['offset']) + int(place['length']))
        with open(os.path.join(folder, 'weights.bin'), 'wb') as file:
            file.truncate(size)

    @functools.lru_cache(maxsize=None)
    def text(self, model, mesh, level, *flags):
        out = os.path.join(self.folder, 'out.mlir')
        try:
            done = subprocess.run([os.path.join(self.tools, 'dpc-compile'), os.path.join(self.folder, model + '.onnx'),
                                   *TRAINING[model], '--params=none', f'--mesh={mesh}', f'--stop-after={level}', '-o', out, *flags],
                                  capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Failed('hangs')
        if done.returncode:
            raise Failed(f'dpc-compile exits {done.returncode}: {done.stderr.strip()[-500:]}')
        with open(out) as file:
            return file.read()

    @functools.lru_cache(maxsize=None)
    def placed(self, model, mesh, *flags):
        return Program(self.text(model, mesh, 'placed', *flags), mesh)
