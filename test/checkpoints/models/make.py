#!/usr/bin/env python3
"""Writes wide_deep.onnx and gram.onnx, with data: the default layouts of their weights are part sharded, part whole.

In wide_deep a plain feature stands beside hidden ones, which a model axis cuts: the head's weight lies as [1 + (64: model)].
In gram the samples are features of each other: under a data axis the weight lies as [(6: data) + 1].
"""
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
RANDOM = np.random.RandomState(0)


def draw(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def write(name, inputs, outputs, nodes, initializers, **data):
    tensors = [numpy_helper.from_array(value, key) for key, value in initializers.items()]
    infos = [[helper.make_tensor_value_info(key, onnx.TensorProto.FLOAT, shape) for key, shape in each.items()]
             for each in (inputs, outputs)]
    model = helper.make_model(helper.make_graph(nodes, name, *infos, tensors),
                              opset_imports=[helper.make_opsetid('', 18)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, os.path.join(HERE, name + '.onnx'))
    np.savez(os.path.join(HERE, name + '.npz'), **data)


FIRST = {'begin': np.array([0]), 'end': np.array([1])}
write('wide_deep', {'x': [8, 16]}, {'logits': [8, 10]},
      [helper.make_node('Gemm', ['x', 'fc.weight', 'fc.bias'], ['a'], name='fc'),
       helper.make_node('Relu', ['a'], ['h'], name='relu'),
       helper.make_node('Slice', ['x', 'begin', 'end', 'end'], ['x0'], name='plain'),
       helper.make_node('Concat', ['x0', 'h'], ['c'], axis=1, name='skip'),
       helper.make_node('MatMul', ['c', 'head.weight'], ['logits'], name='head')],
      {'fc.weight': draw(16, 64) / 4, 'fc.bias': draw(64), 'head.weight': draw(65, 10) / 9, **FIRST},
      x=draw(40, 16), label=RANDOM.randint(0, 10, 40))
write('gram', {'x': [6, 5]}, {'logits': [6, 4]},
      [helper.make_node('Transpose', ['x'], ['xt'], perm=[1, 0], name='transpose'),
       helper.make_node('MatMul', ['x', 'xt'], ['g'], name='gram'),
       helper.make_node('Slice', ['x', 'begin', 'end', 'end'], ['x0'], name='plain'),
       helper.make_node('Concat', ['g', 'x0'], ['c'], axis=1, name='beside'),
       helper.make_node('MatMul', ['c', 'w'], ['logits'], name='head')],
      {'w': draw(7, 4), **FIRST}, x=draw(18, 5), label=draw(18, 4))
