"""Convolutions that cuDNN makes, and what programs do where it is missing.

Three small models, LeNet, a residual network and an hourglass, are trained by programs for the target `cuda` whose convolutions are all
large enough for a library, and compared with programs for the CPU.
"""
import contextlib
import itertools
import json
import os
import re
import shlex
import subprocess
import threading

import numpy as np
import onnx
from onnx import helper

from runs import interp

STEPS, BATCH = 4, 8
# Convolutions by the library, wherever it can.
LIBRARY = '--products=library'
# Convolutions of a step, with their gradients. Images have no gradient.
CONVOLUTIONS = {'lenet': 3 * 2 - 1, 'resnet': 3 * 6 - 1, 'hourglass': 3 * 3 - 1}
# Convolutions that are no library's, of a step and an evaluation: a depthwise one.
BY_KERNELS = {'hourglass': 3 + 1}
# Of losses and of state, relative to a program for the CPU in the same precision; 16-bit sums are rounded otherwise.
TOLERANCES = {'f64': (1e-10, 1e-10), 'f32': (2e-4, 1e-3), 'tf32': (1e-3, None), 'bf16': (2e-3, None), 'f16': (2e-3, None)}


class Graph:
    """The nodes and the weights of a model."""

    def __init__(self, seed):
        self.nodes, self.weights, self.random = [], {}, np.random.default_rng(seed)

    def node(self, kind, inputs, outputs=1, **attributes):
        names = [f'{kind.lower()}{len(self.nodes)}_{i}' for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
        return names[0]

    def weight(self, *shape):
        name = f'weight{len(self.weights)}'
        self.weights[name] = self.random.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape)
        return name

    def values(self, name, value, count):
        name = f'{name}{len(self.weights)}'
        self.weights[name] = np.full((count,), value)
        return name

    def conv(self, x, channels, outputs, kernel, stride=1, bias=False, dilation=1, groups=1):
        inputs = [x, self.weight(outputs, channels // groups, kernel, kernel)] + ([self.values('bias', 0.1, outputs)] if bias else [])
        return self.node('Conv', inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2 * dilation] * 4,
                         dilations=[dilation] * 2, group=groups)

    def norm(self, x, channels):
        inputs = [x] + [self.values(name, value, channels) for name, value in
                        (('scale', 1), ('shift', 0), ('running_mean', 0), ('running_var', 1))]
        return self.node('BatchNormalization', inputs, 3, training_mode=1, momentum=0.9)

    def relu(self, x):
        return self.node('Relu', [x])

    def save(self, file, x, logits):
        initializers = [helper.make_tensor(name, onnx.TensorProto.FLOAT, value.shape, value.ravel())
                        for name, value in self.weights.items()]
        graph = helper.make_graph(self.nodes, 'g', [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, x)],
                                  [helper.make_tensor_value_info(logits, onnx.TensorProto.FLOAT, [BATCH, 10])], initializers)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)]), file)


def lenet(graph):
    x = graph.relu(graph.conv('x', 1, 16, 5, bias=True))
    x = graph.node('MaxPool', [x], kernel_shape=[2, 2], strides=[2, 2])
    x = graph.relu(graph.conv(x, 16, 32, 5, bias=True))
    x = graph.node('MaxPool', [x], kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node('Flatten', [x], axis=1)
    return [BATCH, 1, 12, 12], graph.node('Gemm', [x, graph.weight(10, 32 * 9)], transB=1)


def resnet(graph):
    """A stem, a block of two convolutions, a block with a stride, groups, a dilation and a shortcut of 1x1."""
    x = graph.relu(graph.norm(graph.conv('x', 3, 32, 3), 32))
    y = graph.relu(graph.norm(graph.conv(x, 32, 32, 3), 32))
    x = graph.relu(graph.node('Add', [x, graph.norm(graph.conv(y, 32, 32, 3), 32)]))
    y = graph.relu(graph.norm(graph.conv(x, 32, 64, 3, stride=2, groups=2), 64))
    y = graph.norm(graph.conv(y, 64, 64, 3, dilation=2), 64)
    x = graph.relu(graph.node('Add', [graph.conv(x, 32, 64, 1, stride=2), y]))
    x = graph.node('Flatten', [graph.node('GlobalAveragePool', [x])], axis=1)
    return [BATCH, 3, 10, 10], graph.node('Gemm', [x, graph.weight(10, 64)], transB=1)


def hourglass(graph):
    """A pooling, a depthwise and a transposed convolution, whose result is joined with the layer before the pooling."""
    wide = graph.relu(graph.conv('x', 3, 16, 3, bias=True))
    x = graph.node('MaxPool', [wide], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = graph.relu(graph.norm(graph.conv(x, 16, 16, 3, groups=16), 16))
    x = graph.node('ConvTranspose', [x, graph.weight(16, 16, 2, 2)], kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node('Concat', [x, wide], axis=1)
    x = graph.relu(graph.conv(x, 32, 24, 3))
    x = graph.node('Flatten', [graph.node('GlobalAveragePool', [x])], axis=1)
    return [BATCH, 3, 12, 12], graph.node('Gemm', [x, graph.weight(10, 24)], transB=1)


class Suite:
    """The models of this file, and programs of them. `interp` is the module test/interp/run."""

    def __init__(self, runner, interp):
        self.runner, self.interp = runner, interp
        self.programs, self.locks, self.lock = {}, {}, threading.Lock()
        self.runs = itertools.count()
        for name, build in ('lenet', lenet), ('resnet', resnet), ('hourglass', hourglass):
            graph = Graph(len(name))
            shape, logits = build(graph)
            graph.save(self.file(name, 'onnx'), shape, logits)
            count = BATCH * STEPS
            np.savez(self.file(name, 'npz'), x=graph.random.normal(0, 1, (count, *shape[1:])).astype(np.float32),
                     label=graph.random.integers(0, 10, (count,)))

    def file(self, model, kind):
        return os.path.join(self.runner.folder, f'cudnn.{model}.{kind}')

    def compile(self, model, precision, *flags, target='cuda'):
        """(file of a program, report of --explain). Each program is compiled once."""
        key = model, precision, flags, target
        with self.lock:
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self.programs:
                self.programs[key] = self.compile_anew(*key)
            return self.programs[key]

    def compile_anew(self, model, precision, flags, target):
        out = self.file('.'.join([model, target, precision, *flags]).replace('/', '_'), 'program')
        # A CPU has no tf32.
        own = ['--target=cuda', '--ptxas=off', '--precision=' + precision] if target == 'cuda' else \
            ['--precision=' + precision.replace('tf32', 'f32')]
        run = subprocess.run([os.path.join(self.runner.tools, 'dpc-compile'), self.file(model, 'onnx'), '-o', out, '--explain',
                              '--loss=cross-entropy', '--optimizer=momentum,lr=0.05,momentum=0.9', *own, *flags],
                             capture_output=True, text=True, timeout=300)
        if run.returncode:
            raise self.interp.Failed(run.stderr[-300:])
        return out, run.stdout

    def train(self, model, program, tag, *flags, steps=STEPS, notes=None, **variables):
        """(losses, bytes of the state, state by name)."""
        # Several tests may run one program at the same time.
        out = f'{program}.{tag}.{next(self.runs)}'
        run = subprocess.run([os.path.join(self.runner.tools, 'dpc-run'), program, '--data=' + self.file(model, 'npz'),
                              '--no-shuffle', f'--steps={steps}', f'--log={out}.jsonl', f'--save-params={out}.safetensors',
                              *flags], capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
        if run.returncode:
            raise self.interp.Failed(f'{tag}: exit {run.returncode}: {run.stderr.strip()[:300]}')
        if notes is not None:
            notes.append(run.stderr)
        with open(out + '.jsonl') as log, open(out + '.safetensors', 'rb') as state:
            losses = [json.loads(line)['loss'] for line in log]
            return losses, state.read(), self.interp.read_safetensors(out + '.safetensors')

    def count(self, model, program, tag, *flags, **others):
        """(what train gives, how often each process called a function of cuDNN: {process: {function: times}})."""
        file = f'{program}.{tag}.{next(self.runs)}.counts'
        run = self.train(model, program, tag, *flags, DPC_EMU_COUNT=file, **others)
        found = {}
        with open(file) as lines:
            for line in lines:
                # Lines of launches are about kernels.
                if counted := re.match(r'(\d+) (cudnn\w+) (\d+)$', line):
                    found.setdefault(counted[1], {})[counted[2]] = int(counted[3])
        return run, found

    def compare(self, precision, got, want):
        of_losses, of_state = TOLERANCES[precision]
        text = 'losses %.1e' % self.interp.check_losses(np.array(got[0]), np.array(want[0]), of_losses)
        return text if of_state is None else text + ', state %.1e' % self.interp.check_state(got[2], want[2], of_state)

    def driver_alone(self):
        """A folder with a driver and no other library."""
        folder = os.path.join(self.runner.folder, 'driver without cudnn')
        os.makedirs(folder, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.symlink(os.path.join(os.environ['DPC_CUDA_LIBRARIES'], 'libcuda.so.1'), os.path.join(folder, 'libcuda.so.1'))
        return folder


def check_model(suite, model, precision, *flags):
    """The library makes all convolutions of a step, and training is that of a CPU."""
    program, report = suite.compile(model, precision, LIBRARY, *flags)
    made = re.search(r'convolutions: (\d+) by cuDNN where it is there, (\d+) by kernels', report)
    if not made or made[2] != str(BY_KERNELS.get(model, 0)):
        raise suite.interp.Failed(made[0] if made else 'no word of convolutions')
    # Without graphs each step calls the library anew.
    _, first = suite.count(model, program, 'first', '--cuda-graph=off', steps=1)
    got, all_steps = suite.count(model, program, 'training', '--cuda-graph=off')
    calls = [sum(process.get('cudnnBackendExecute', 0) for process in found.values()) for found in (first, all_steps)]
    ranks = 2 if '--mesh=data=2' in flags else 1
    if calls[1] - calls[0] != (STEPS - 1) * ranks * CONVOLUTIONS[model]:
        raise suite.interp.Failed(f'{calls} convolutions in 1 and {STEPS} steps, not {ranks * CONVOLUTIONS[model]} in each')
    want = suite.train(model, suite.compile(model, precision, target='cpu')[0], 'training')
    error = suite.compare(precision, got, want)
    if precision == 'tf32' and np.max(np.abs(np.array(got[0]) / np.array(want[0]) - 1)) < 1e-7:
        raise suite.interp.Failed(f'{error}: nothing was rounded')
    return f'{made[1]} convolutions, {error}'


def check_missing(suite, model, precision):
    """Kernels make the convolutions where there is no library, and the user hears of it once."""
    program, _ = suite.compile(model, precision, LIBRARY)
    by_library = suite.train(model, program, 'library')
    notes = []
    by_kernels = suite.train(model, program, 'kernels', notes=notes, DPC_CUDA_LIBRARIES=suite.driver_alone())
    if notes[0].count('note: convolutions are made by kernels: cuDNN is not there') != 1:
        raise suite.interp.Failed(f'printed {notes[0]!r}')
    if by_kernels[1] == by_library[1]:
        raise suite.interp.Failed('the same bits: the library made nothing')
    return suite.compare(precision, by_kernels, by_library)


def check_order(suite, model, precision, last):
    """Whether all convolutions of a step have channels last. No layer is transposed but the image."""
    run = subprocess.run([os.path.join(suite.runner.tools, 'dpc-compile'), suite.file(model, 'onnx'), '--target=cuda', LIBRARY,
                          '--loss=cross-entropy', '--optimizer=sgd,lr=0.1', '--precision=' + precision,
                          '--stop-after=ordered'], capture_output=True, text=True, timeout=300, check=True)
    step = run.stdout[:run.stdout.find('@eval')]
    convolutions = re.findall(r'nn\.conv.* groups .*', step)
    found = sum('channelsLast' in line for line in convolutions)
    moved = re.findall(r'nn\.transpose %\S+ \[[^]]*\] : tensor<((?:\d+x){4})', step)
    layers = [shape for shape in moved if shape.startswith(f'{BATCH}x') and not shape.startswith(f'{BATCH}x3x')]
    if found != (len(convolutions) if last else 0) or layers or (not last and moved):
        raise suite.interp.Failed(f'{found} of {len(convolutions)} convolutions have channels last, layers of {layers} are transposed')
    return f'{found} of {len(convolutions)} convolutions, {len(moved)} transpositions'


def check_second_without(suite, model):
    """Where one rank has no library, kernels make the convolutions of all ranks."""
    program, _ = suite.compile(model, 'f64', LIBRARY, '--mesh=data=2')
    want = suite.train(model, program, 'kernels', '--comm=local', DPC_CUDA_LIBRARIES=suite.driver_alone())
    with open(program + '.second', 'w') as script:
        script.write(f'#!/bin/sh\n[ "$RANK" = 1 ] && export DPC_CUDA_LIBRARIES={shlex.quote(suite.driver_alone())}\n'
                     f'exec {shlex.quote(program)} "$@"\n')
    os.chmod(script.name, 0o755)
    notes = []
    got = suite.train(model, script.name, 'second', '--comm=local', notes=notes)
    if notes[0].count('convolutions are made by kernels: rank 1 has no cuDNN') != 1:
        raise suite.interp.Failed(f'printed {notes[0]!r}')
    # Only products may differ, which the ranks make by kernels for the same reason.
    if got[:2] != want[:2]:
        raise suite.interp.Failed('another state than by kernels')
    return 'kernels on both'


def check_bits(suite, model, precision, *flags):
    """With graphs and without, in every order of streams and in each run: the same bytes."""
    program, _ = suite.compile(model, precision, LIBRARY, *flags)
    want, ways = None, 0
    for graph, order in ('off', 'eager'), ('off', 'lazy-newest'), ('on', 'async'), ('on', 'lazy'), ('on', 'lazy'):
        got = suite.train(model, program, f'bits.{ways}', '--cuda-graph=' + graph, DPC_EMU_STREAM=order)[:2]
        ways += 1
        if want is not None and got != want:
            raise suite.interp.Failed(f'--cuda-graph={graph} with streams {order}: another state')
        want = got
    return f'{ways} runs'


def check_adopted(suite, model, mesh, leaders, *flags):
    """Only the first rank of a stage asks the library for plans; all ranks use them."""
    program, _ = suite.compile(model, 'bf16', LIBRARY, '--mesh=' + mesh, *flags)
    _, calls = suite.count(model, program, 'adopted', steps=1)
    asked = [process for process, each in calls.items() if each.get('cudnnHeuristics')]
    ran = [process for process, each in calls.items() if each.get('cudnnBackendExecute')]
    if len(asked) != leaders or len(ran) != 2:
        raise suite.interp.Failed(f'{len(asked)} ranks asked, {len(ran)} made convolutions')
    return f'{leaders} of {len(ran)} ranks asked'


def check_tuned(suite, model):
    """--tune takes the fastest plans, keeps them in its file, and measures no plan again."""
    program, _ = suite.compile(model, 'f32', LIBRARY, '--mesh=data=2')
    file = program + '.tuned'
    want = suite.train(model, program, 'plain')[:2]
    notes = []
    measured = suite.train(model, program, 'measured', '--tune=' + file, notes=notes, DPC_EMU_DNN_SLOW='0')[:2]
    known = suite.train(model, program, 'known', '--tune=' + file, notes=notes)[:2]
    with open(file) as lines:
        plans = [bytes.fromhex(fields[4]) for fields in (line.split('\t') for line in lines.read().splitlines()[1:])
                 if fields[3].startswith('conv-')]
    if want != measured or want != known:
        raise suite.interp.Failed('another state with measured plans')
    if not plans or any(b'"setting":1' not in plan for plan in plans):
        raise suite.interp.Failed(f'{len(plans)} plans, of which some are slow')
    for note, printed in zip((f'{len(plans)} of {len(plans)} convolutions measured', f'has all {len(plans)} convolutions'), notes):
        if note not in printed:
            raise suite.interp.Failed(f'printed {printed!r}')
    return f'{len(plans)} plans'


def tests(runner):
    """(name, what runs, its arguments) of every test. The models are made when the first one runs."""
    made, lock = [], threading.Lock()

    def run(_, check, *arguments):
        with lock:
            if not made:
                made.append(Suite(runner, interp))
        return check(made[0], *arguments)

    wanted = [(f'{model} one rank {precision}', check_model, (model, precision))
              for model in CONVOLUTIONS for precision in TOLERANCES]
    wanted += [(f'resnet data=2 {precision}', check_model, ('resnet', precision, '--mesh=data=2')) for precision in ('f64', 'bf16')]
    wanted += [('resnet data=2 bf16 zero=3', check_model, ('resnet', 'bf16', '--mesh=data=2', '--zero=3'))]
    wanted += [(f'{model} {precision} missing', check_missing, (model, precision))
               for model, precision in (('lenet', 'f64'), ('resnet', 'f32'), ('resnet', 'tf32'), ('resnet', 'bf16'),
                                        ('hourglass', 'tf32'), ('hourglass', 'bf16'))]
    wanted += [(f'{model} channels {precision}', check_order, (model, precision, precision != 'f32'))
               for model in ('resnet', 'hourglass') for precision in ('bf16', 'tf32', 'f32')]
    wanted += [('lenet data=2 missing on the second rank', check_second_without, ('lenet',)),
               ('resnet bf16 equal bits', check_bits, ('resnet', 'bf16')),
               ('lenet data=2 equal bits', check_bits, ('lenet', 'f32', '--mesh=data=2')),
               ('resnet data=2 adopts plans', check_adopted, ('resnet', 'data=2', 1)),
               ('resnet pipe=2 adopts plans', check_adopted, ('resnet', 'pipe=2', 2, '--microbatches=2')),
               ('lenet data=2 tuned', check_tuned, ('lenet',))]
    for name, check, arguments in wanted:
        yield 'cudnn ' + name, run, (check, *arguments)
