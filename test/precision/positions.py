#!/usr/bin/env python3
"""Small models in which a product takes positions: their phases are wrong by turns if it rounds them.

  PYTHONPATH=DIR positions.py     records positions.json; DIR has onnxref.py, as for record.py

Each is trained for four steps. positions.json has the losses of PyTorch in f64 and under autocast of both types.
"""
import json
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES, LENGTH, WIDTH, CLASSES, STEPS, RATE = 4, 16, 16, 24, 4, 0.05
# Of the lengths that language models read.
LARGEST = 4000


class Graph:
    """An ONNX graph whose initializers of floats are parameters, but for constants."""

    def __init__(self, name):
        self.rng = np.random.default_rng(sorted(KINDS).index(name))
        self.nodes, self.weights, self.inputs, self.data = [], [], [], {}

    def node(self, kind, *inputs, **attributes):
        name = f'v{len(self.nodes)}'
        if kind == 'Constant':
            attributes = {'value': numpy_helper.from_array(inputs[0])}
            inputs = ()
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, value):
        return self.node('Constant', np.asarray(value))

    def parameter(self, *shape, scale=0.5):
        name = f'w{len(self.weights)}'
        self.weights.append(numpy_helper.from_array((scale * self.rng.standard_normal(shape)).astype(np.float32), name))
        return name

    def input(self, name, values, kind=TensorProto.INT64):
        self.inputs.append(helper.make_tensor_value_info(name, kind, (SAMPLES, *values.shape[1:])))
        self.data[name] = values
        return name

    def positions(self, *shape):
        return self.rng.integers(0, LARGEST, (STEPS * SAMPLES, *shape))

    def linear(self, x, inner, outer):
        return self.node('MatMul', x, self.parameter(inner, outer))

    def floats(self, x):
        return self.node('Cast', x, to=TensorProto.FLOAT)

    def waves(self, phases):
        return self.node('Concat', self.node('Sin', phases), self.node('Cos', phases), axis=-1)

    def embedded(self):
        ids = self.input('ids', self.rng.integers(0, CLASSES, (STEPS * SAMPLES, LENGTH)))
        return self.node('Gather', self.parameter(CLASSES, WIDTH), ids)

    def rotated(self, phases):
        """Attention of tokens of which queries and keys are turned by `phases`, [samples, length, WIDTH / 2]."""
        x = self.embedded()
        both = self.node('Concat', phases, phases, axis=-1)
        turned = []
        for _ in range(2):
            y = self.linear(x, WIDTH, WIDTH)
            halves = [self.node('Slice', y, self.constant(np.array([low])), self.constant(np.array([low + WIDTH // 2])),
                                self.constant(np.array([2]))) for low in (0, WIDTH // 2)]
            other = self.node('Concat', self.node('Neg', halves[1]), halves[0], axis=-1)
            turned.append(self.node('Add', self.node('Mul', y, self.node('Cos', both)),
                                    self.node('Mul', other, self.node('Sin', both))))
        scores = self.node('MatMul', turned[0], self.node('Transpose', turned[1], perm=[0, 2, 1]))
        rows = self.node('MatMul', self.node('Softmax', scores, axis=-1), self.linear(x, WIDTH, WIDTH))
        return self.linear(rows, WIDTH, CLASSES)

    def save(self, path, logits):
        self.nodes[-1].output[0] = 'logits'
        graph = helper.make_graph(self.nodes, 'positions', self.inputs,
                                  [helper.make_tensor_value_info('logits', TensorProto.FLOAT, None)], self.weights)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9), path)


def frequencies(count):
    return (10000.0 ** (-np.arange(count) / count)).astype(np.float32)


def rope_einsum(g):
    t = g.floats(g.input('t', g.positions(LENGTH)))
    return g.rotated(g.node('Einsum', t, g.constant(frequencies(WIDTH // 2)), equation='bs,f->bsf'))


def rope_matmul(g):
    """As transformers has it: [1, frequencies, 1] times [samples, 1, length]."""
    t = g.node('Unsqueeze', g.floats(g.input('t', g.positions(LENGTH))), g.constant(np.array([1])))
    phases = g.node('MatMul', g.constant(frequencies(WIDTH // 2).reshape(1, -1, 1)), t)
    return g.rotated(g.node('Transpose', phases, perm=[0, 2, 1]))


def fourier_grid(g):
    """Coordinates on a grid, [samples, length, 2], times a matrix that is not trained."""
    t = g.floats(g.input('t', g.positions(LENGTH, 2)))
    waves = g.waves(g.node('MatMul', t, g.constant(np.stack([frequencies(8), frequencies(8)[::-1]]))))
    return g.linear(g.node('Add', g.embedded(), waves), WIDTH, CLASSES)


def timestep(g):
    """Of a diffusion model: the time of each sample, by products element by element, then two layers."""
    t = g.node('Unsqueeze', g.floats(g.input('t', g.positions())), g.constant(np.array([1])))
    waves = g.waves(g.node('Mul', t, g.constant(frequencies(WIDTH // 2)[None])))
    hidden = g.linear(waves, WIDTH, WIDTH)
    shift = g.linear(g.node('Mul', hidden, g.node('Sigmoid', hidden)), WIDTH, WIDTH)
    return g.linear(g.node('Add', g.embedded(), g.node('Unsqueeze', shift, g.constant(np.array([1])))), WIDTH, CLASSES)


def float_times(g):
    """Times that are floats, such as seconds: nothing but the contraction, of extent 1, says that they are phases."""
    t = g.input('t', g.positions(LENGTH, 1).astype(np.float32) + np.float32(0.25), TensorProto.FLOAT)
    phases = g.node('MatMul', t, g.constant(frequencies(WIDTH).reshape(1, -1)))
    return g.linear(g.node('Add', g.embedded(), g.node('Sin', phases)), WIDTH, CLASSES)


def counted_ids(g):
    """Rows that are counted, not given: the positions are a running sum of truth values."""
    seen = g.node('Cast', g.node('GreaterOrEqual', g.input('ids2', g.positions(LENGTH)), g.constant(np.array(0))),
                  to=TensorProto.INT64)
    t = g.floats(g.node('Mul', g.node('CumSum', seen, g.constant(np.array(1))), g.constant(np.array(251))))
    return g.rotated(g.node('Einsum', t, g.constant(frequencies(WIDTH // 2)), equation='bs,f->bsf'))


KINDS = {kind.__name__: kind for kind in (rope_einsum, rope_matmul, fourier_grid, timestep, float_times, counted_ids)}


def export(name, folder):
    """Writes the model and its data; gives their paths."""
    graph = Graph(name)
    logits = KINDS[name](graph)
    paths = [os.path.join(folder, f'{name}.{kind}') for kind in ('onnx', 'npz')]
    graph.save(paths[0], logits)
    label = graph.rng.integers(0, CLASSES, (STEPS * SAMPLES, LENGTH))
    np.savez(paths[1], **graph.data, label=label)
    return paths


def split_graph(graph):
    """Nodes that take positions to phases, which whoever trains runs outside autocast; and all others, which read weights."""
    trained = {weight.name for weight in graph.initializer}
    times, parts = {'t', 'ids2'}, ([], [])
    for node in graph.node:
        isPhase = not trained & set(node.input) or (node.op_type == 'MatMul' and node.input[0] in times)
        parts[0 if isPhase else 1].append(node)
        if not isPhase:
            trained.update(node.output)
    return parts


def train(model, data, narrow):
    """Losses of PyTorch, under autocast of the type `narrow`, or in f64."""
    import onnxref
    import torch
    runner = onnxref.Exec(model, torch.float32 if narrow else torch.float64)
    phases, others = split_graph(model.graph)
    weights = {name: value.requires_grad_() for name, value in runner.init.items()}
    scale = 1024 if narrow == torch.float16 else 1
    losses = []
    for step in range(STEPS):
        rows = {key: torch.as_tensor(values[step * SAMPLES:(step + 1) * SAMPLES]) for key, values in data.items()}
        label = rows.pop('label').reshape(-1)
        env = dict(weights)
        env.update((key, x.to(runner.dt) if x.is_floating_point() else x) for key, x in rows.items())
        runner.graph(phases, env, runner.ops)
        with torch.autocast('cpu', narrow or torch.bfloat16, enabled=narrow is not None):
            runner.graph(others, env, runner.ops)
        logits = env['logits'].to(runner.dt).reshape(-1, CLASSES)
        loss = torch.nn.functional.cross_entropy(logits, label)
        losses.append(loss.item())
        grads = torch.autograd.grad(loss * scale, list(weights.values()))
        with torch.no_grad():
            for weight, grad in zip(weights.values(), grads):
                weight -= RATE / scale * grad
    return losses


def record(folder):
    import onnx
    import torch
    losses = {}
    for name in KINDS:
        path, data = export(name, folder)
        model, data = onnx.load(path), dict(np.load(data))
        losses[name] = {kind: train(model, data, narrow)
                        for kind, narrow in (('f64', None), ('bf16', torch.bfloat16), ('f16', torch.float16))}
    return losses


if __name__ == '__main__':
    import tempfile
    with tempfile.TemporaryDirectory() as scratch:
        recorded = record(scratch)
    with open(os.path.join(HERE, 'positions.json'), 'w') as file:
        json.dump(recorded, file, indent=1)
        file.write('\n')
