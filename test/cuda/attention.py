"""Tests `attention ..`: attention on the device gives the losses of the CPU's program, in f32, tf32, bf16 and f16.
Their kernels do not spill registers."""
import json
import os
import re
import shutil
import subprocess

import numpy as np
import onnx
from onnx import helper

from runs import interp, ROOT, Runner

PRECISIONS = 'f32', 'tf32', 'bf16', 'f16'
# Of losses, relative. The first steps count: later ones are off by how rounding carries a run.
ALLOWED = {'f32': 1e-5, 'tf32': 2e-3, 'bf16': 1e-2, 'f16': 2e-3}
STEPS = 3
# The layers of a model: heads, elements of a head, and which keys a query sees.
LAYERS = (3, 40, 'all'), (2, 80, 'causal'), (1, 256, 'masked'), (2, 40, 'later')
BATCH, LENGTH, PAST, CLASSES = 2, 37, 29, 11


def write_model(stem):
    """A model with a layer for each of LAYERS, and data. The last layer has keys of an input ahead of its own, and each
    query sees those and its own up to itself."""
    width, random = 120, np.random.default_rng(11)
    nodes, weights = [], {}

    def add(kind, inputs, **attributes):
        nodes.append(helper.make_node(kind, inputs, [f'v{len(nodes)}'], **attributes))
        return nodes[-1].output[0]

    def constant(values):
        name = f'w{len(weights)}'
        weights[name] = np.ascontiguousarray(values)
        return name

    def weight(shape):
        return constant(random.normal(0, 0.05, shape).astype(np.float32))

    x = 'x'
    for heads, size, sees in LAYERS:
        inner = heads * size
        joined = add('Add', [add('MatMul', [x, weight((width, 3 * inner))]), weight((3 * inner,))])
        parts = [f'part{len(nodes)}.{i}' for i in range(3)]
        nodes.append(helper.make_node('Split', [joined, constant(np.array([inner] * 3, np.int64))], parts, axis=2))
        shape = constant(np.array([BATCH, LENGTH, heads, size], np.int64))
        q, k, v = (add('Transpose', [add('Reshape', [part, shape])], perm=[0, 2, 1, 3]) for part in parts)
        if sees == 'later':
            past = add('Transpose', [add('Reshape', ['past', constant(np.array([BATCH, PAST, heads, size], np.int64))])],
                       perm=[0, 2, 1, 3])
            k, v = add('Concat', [past, k], axis=2), add('Concat', [past, v], axis=2)
        keys = LENGTH + (PAST if sees == 'later' else 0)
        scores = add('Mul', [add('MatMul', [q, add('Transpose', [k], perm=[0, 1, 3, 2])]), constant(np.array(size**-0.5, np.float32))])
        if sees != 'all':
            seen = np.tril(np.ones((LENGTH, keys)), keys - LENGTH) if sees != 'masked' else random.random((LENGTH, keys)) < 0.8
            scores = add('Add', [scores, constant(np.where(seen, 0, -1e9).astype(np.float32))])
        out = add('MatMul', [add('Softmax', [scores], axis=-1), v])
        out = add('Reshape', [add('Transpose', [out], perm=[0, 2, 1, 3]), constant(np.array([BATCH, LENGTH, inner], np.int64))])
        x = add('Add', [x, add('MatMul', [out, weight((inner, width))])])
    nodes.append(helper.make_node('MatMul', [x, weight((width, CLASSES))], ['logits'], name='head'))
    tensors = [onnx.numpy_helper.from_array(values, name) for name, values in weights.items()]
    inputs = [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [BATCH, LENGTH, width]),
              helper.make_tensor_value_info('past', onnx.TensorProto.FLOAT, [BATCH, PAST, 80])]
    onnx.save(helper.make_model(helper.make_graph(
        nodes, 'g', inputs, [helper.make_tensor_value_info('logits', onnx.TensorProto.FLOAT, [BATCH, LENGTH, CLASSES])], tensors),
        opset_imports=[helper.make_opsetid('', 17)]), stem + '.onnx')
    rows = STEPS * BATCH
    np.savez(stem + '.npz', x=random.normal(0, 1, (rows, LENGTH, width)).astype(np.float32),
             past=random.normal(0, 1, (rows, PAST, 80)).astype(np.float32), label=random.integers(0, CLASSES, (rows, LENGTH)))
    return stem


def model_of(runner: Runner, case):
    """The file of a model, that of its data, and the flags to compile it."""
    if case != 'heads':
        folder = os.path.join(interp.MODELS, case)
        return os.path.join(folder, 'model.onnx'), os.path.join(folder, 'data.npz'), list(interp.CASES[case][0])
    stem = runner.once('attention heads', lambda: write_model(os.path.join(runner.folder, 'heads'))).result()
    return stem + '.onnx', stem + '.npz', ['--loss=cross-entropy', '--optimizer=sgd,lr=0.01']


def losses_of(runner, command, data, out):
    for words in (command, [os.path.join(runner.tools, 'dpc-run'), out, f'--data={data}', '--no-shuffle', f'--steps={STEPS}',
                            f'--log={out}.jsonl']):
        run = subprocess.run(words, capture_output=True, text=True, timeout=300)
        if run.returncode:
            raise interp.Failed(run.stderr[-300:])
    with open(out + '.jsonl') as log:
        return np.array([json.loads(line)['loss'] for line in log])


def check_attention(runner, case, precision):
    model, data, flags = model_of(runner, case)

    def losses(target, precision, *own):
        out = os.path.join(runner.folder, f'attention.{case}.{precision}.{target}')
        return losses_of(runner, [os.path.join(runner.tools, 'dpc-compile'), model, '-o', out, *flags,
                                  f'--precision={precision}', *own], data, out)

    out = os.path.join(runner.folder, f'attention.{case}.{precision}')
    made = losses('cuda', precision, '--target=cuda', '--ptxas=off', f'--save-kernels={out}.kernels')
    known = 'f32' if precision == 'tf32' else precision  # a CPU has no tf32
    wanted = runner.once(('attention', case, known), lambda: losses('cpu', known)).result()
    with open(os.path.join(out + '.kernels', 'launches.jsonl')) as lines:
        text = lines.read()
    names = re.findall(r'"name":"(attention\w*)"', text)
    layers = len(LAYERS) if case == 'heads' else 1
    if names.count('attention') < layers or names.count('attention_grad') < layers:
        raise interp.Failed(f'{names.count("attention")} attentions and {names.count("attention_grad")} gradients')
    judged = subprocess.run([os.path.join(ROOT, 'scripts', 'check-kernels'), out + '.kernels', '--rows=9'],
                            capture_output=True, text=True, timeout=300)
    if judged.returncode:
        raise interp.Failed(judged.stdout + judged.stderr)
    return f'{len(names)} kernels, losses %.1e' % interp.check_losses(made, wanted, ALLOWED[precision])


def check_spills(runner, precision):
    """No attention of unusual heads spills registers, where NVIDIA's assembler is installed."""
    model, _, flags = model_of(runner, 'heads')
    search = os.environ['PATH'] + ':/usr/local/cuda/bin:' + os.path.join(ROOT, '.venv', 'cuda', 'bin')
    if not all(shutil.which(tool, path=search) for tool in ('ptxas', 'cuobjdump')):
        return 'no assembler'
    folder = os.path.join(runner.folder, f'attention.spills.{precision}')
    environment = {**os.environ, 'PATH': search}
    for words in ([os.path.join(runner.tools, 'dpc-compile'), model, '-o', folder + '.program', *flags, '--target=cuda',
                   '--cuda-arch=sm_90', f'--precision={precision}', f'--save-kernels={folder}'],
                  [os.path.join(ROOT, 'scripts', 'check-kernels'), folder, '--rows=1']):
        run = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment)
        if run.returncode:
            raise interp.Failed((run.stdout + run.stderr)[-1000:])
    return re.search(r'measured: (.*)', run.stdout)[1]


def tests(runner):
    for precision in 'f32', 'tf32', 'bf16':
        yield f'attention heads {precision} spills', check_spills, (precision,)
    for case in ('heads', 'gpt2', 'llama'):
        for precision in PRECISIONS:
            yield f'attention {case} {precision}', check_attention, (case, precision)
