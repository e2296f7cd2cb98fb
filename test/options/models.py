"""Small ONNX files, each for an option of the compiler. make(folder) writes them as NAME.onnx."""
import os

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper


def value(name, shape, kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)


def weights(seed=0, **shapes):
    rng = np.random.default_rng(seed)
    return [numpy_helper.from_array((rng.standard_normal(shape) * 0.3).astype(np.float32), name.replace('__', '.'))
            for name, shape in shapes.items()]


def ints(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, initializers, inputs, outputs, opset=17):
    graph = h.make_graph(nodes, 'main_graph', inputs, outputs, initializers)
    return h.make_model(graph, opset_imports=[h.make_opsetid('', opset)], ir_version=8)


def product(shape, out, kind=T.FLOAT):
    """logits = x w + b over the last axis, with names as of a module `head`."""
    return model([h.make_node('MatMul', ['x', 'head.weight'], ['xw'], name='product'),
                  h.make_node('Add', ['xw', 'head.bias'], ['logits'], name='sum')],
                 weights(head__weight=(shape[-1], out), head__bias=(out,)),
                 [value('x', shape, kind)], [value('logits', [*shape[:-1], out])])


def layers():
    """Three layers named n.0, n.1 and n.2, with a mask and running statistics between."""
    nodes = [h.make_node('Gemm', ['x', 'n.0.weight', 'n.0.bias'], ['a'], name='first'),
             h.make_node('BatchNormalization', ['a', 'norm.weight', 'norm.bias', 'norm.running_mean', 'norm.running_var'],
                         ['b'], name='norm'),
             h.make_node('Gemm', ['b', 'n.1.weight', 'n.1.bias'], ['c'], name='second'),
             h.make_node('Add', ['c', 'attn_mask'], ['d'], name='masked'),
             h.make_node('Gemm', ['d', 'n.2.weight', 'n.2.bias'], ['logits'], name='third')]
    made = weights(n__0__weight=(4, 4), n__0__bias=(4,), n__1__weight=(4, 4), n__1__bias=(4,), n__2__weight=(4, 3),
                   n__2__bias=(3,), norm__weight=(4,), norm__bias=(4,), norm__running_mean=(4,))
    made.append(numpy_helper.from_array(np.ones(4, np.float32), 'norm.running_var'))
    made.append(numpy_helper.from_array(np.array([[0, -1e9, 0, 0]] * 2, np.float32)[:1], 'attn_mask'))
    return model(nodes, made, [value('x', [8, 4])], [value('logits', [8, 3])])


def loop(trips=6000):
    """A Loop whose body has one operator: it is unrolled."""
    body = h.make_graph([h.make_node('Identity', ['go'], ['goes'], name='same'), h.make_node('Mul', ['v', 'v'], ['squared'], name='square')],
                        'body', [value('i', [], T.INT64), value('go', [], T.BOOL), value('v', [4])],
                        [value('goes', [], T.BOOL), value('squared', [4])])
    return model([h.make_node('MatMul', ['x', 'head.weight'], ['xw'], name='product'),
                  h.make_node('Loop', ['trips', '', 'xw'], ['last'], name='the_loop', body=body),
                  h.make_node('ReduceMean', ['last'], ['loss'], keepdims=0, name='mean')],
                 [*weights(head__weight=(4, 4)), numpy_helper.from_array(np.array(trips), 'trips')],
                 [value('x', [4])], [value('loss', [])])


def deep():
    """Eight layers whose parameters are as large as what they make of a rank's samples: both matter to its memory."""
    width, at = 512, 'x'
    nodes, shapes = [], {}
    for j in range(8):
        shapes |= {f'n__{j}__weight': (width, width), f'n__{j}__bias': (width,)}
        made = 'logits' if j == 7 else f'sum{j}'
        nodes.append(h.make_node('Gemm', [at, f'n.{j}.weight', f'n.{j}.bias'], [made], name=f'gemm{j}'))
        if j < 7:
            at = f'tanh{j}'
            nodes.append(h.make_node('Tanh', [made], [at], name=at))
    return model(nodes, weights(**shapes), [value('x', [1024, width])], [value('logits', [1024, width])])


def tables():
    """Columns of one input look rows up in tables of different heights, as recommendation models do."""
    nodes, parts = [], []
    heights = (3, 9, 5)
    for j, height in enumerate(heights):
        nodes += [h.make_node('Gather', ['ids', f'column{j}'], [f'id{j}'], axis=1, name=f'column.{j}'),
                  h.make_node('Gather', [f'tables.{j}.weight', f'id{j}'], [f'row{j}'], name=f'lookup.{j}')]
        parts.append(f'row{j}')
    nodes += [h.make_node('Concat', parts, ['rows'], axis=1, name='join'),
              h.make_node('Gemm', ['rows', 'out.weight', 'out.bias'], ['logits'], name='out')]
    made = weights(**{f'tables__{j}__weight': (height, 2) for j, height in enumerate(heights)},
                   out__weight=(6, 1), out__bias=(1,))
    made += [ints(f'column{j}', j) for j in range(3)]
    return model(nodes, made, [value('ids', [8, 3], T.INT64)], [value('logits', [8, 1])])


def biased():
    """Attention-like scores with a bias that is made of a table alone, and used by two layers, as T5 has it."""
    nodes = [h.make_node('Gather', ['bias.weight', 'buckets'], ['looked'], name='bias.lookup'),
             h.make_node('Transpose', ['looked'], ['turned'], perm=[2, 0, 1], name='bias.turn'),
             h.make_node('Unsqueeze', ['turned', 'first'], ['bias'], name='bias.grow')]
    before = 'x'
    for i in range(2):
        nodes += [h.make_node('MatMul', [before, f'q{i}.weight'], [f'q{i}'], name=f'q{i}'),
                  h.make_node('Add', [f'q{i}', 'bias'], [f's{i}'], name=f'scores{i}'),
                  h.make_node('Softmax', [f's{i}'], [f'p{i}'], axis=-1, name=f'weights{i}')]
        before = f'p{i}'
    nodes += [h.make_node('ReduceMean', [before], ['m'], axes=[1, 2], keepdims=0, name='mean'),
              h.make_node('Gemm', ['m', 'out.weight', 'out.bias'], ['logits'], name='out')]
    made = weights(bias__weight=(6, 2), q0__weight=(5, 5), q1__weight=(5, 5), out__weight=(5, 3), out__bias=(3,))
    made += [ints('buckets', np.add.outer(np.arange(5), np.arange(5)) % 6), ints('first', [0])]
    return model(nodes, made, [value('x', [8, 2, 5, 5])], [value('logits', [8, 3])])


def integer(op, **attributes):
    """An operator that floats alone have, of integers."""
    image = [2, 3, 8, 8]
    operands = {'Conv': ['x', 'w'], 'ConvTranspose': ['x', 'w'], 'AveragePool': ['x'], 'Softmax': ['x'], 'Exp': ['x'],
                'Sqrt': ['x'], 'Tanh': ['x'], 'Sigmoid': ['x'], 'LayerNormalization': ['x', 's'], 'Gelu': ['x'],
                'BatchNormalization': ['x', 'c', 'c', 'c', 'c'], 'LogSoftmax': ['x'], 'Erf': ['x'], 'Dropout': ['x'],
                'GlobalAveragePool': ['x'], 'Elu': ['x'], 'HardSwish': ['x'], 'InstanceNormalization': ['x', 'c', 'c']}[op]
    shape = (3, 3, 3, 3)
    made = [numpy_helper.from_array(np.ones(shape, np.int32), 'w'), numpy_helper.from_array(np.ones(8, np.int32), 's'),
            numpy_helper.from_array(np.ones(3, np.int32), 'c')]
    made = [each for each in made if each.name in operands]
    return model([h.make_node(op, operands, ['y'], name='the_node', **attributes)], made,
                 [value('x', image, T.INT32)], [value('y', None, T.INT32)], 20)


INTEGER = {'Conv': {}, 'ConvTranspose': {}, 'AveragePool': {'kernel_shape': [2, 2]}, 'Softmax': {}, 'Exp': {}, 'Sqrt': {},
           'Tanh': {}, 'Sigmoid': {}, 'LayerNormalization': {}, 'Gelu': {}, 'BatchNormalization': {}, 'LogSoftmax': {},
           'Erf': {}, 'GlobalAveragePool': {}, 'Elu': {}, 'HardSwish': {}, 'InstanceNormalization': {}}


def recurrent():
    """An RNN over [steps, samples, features]: the result of a step depends on all steps before it."""
    return model([h.make_node('RNN', ['x', 'cell.w', 'cell.r'], ['y'], name='cell', hidden_size=3),
                  h.make_node('Squeeze', ['y', 'one'], ['states'], name='squeeze')],
                 [*weights(cell__w=(1, 3, 5), cell__r=(1, 3, 3)), ints('one', [1])],
                 [value('x', [6, 2, 5])], [value('states', [6, 2, 3])])


def make(folder):
    made = {'layers': layers(), 'recurrent': recurrent(), 'deep': deep(), 'tables': tables(), 'loop': loop(), 'endless': loop(10**9), 'biased': biased(),
            'sequence': product([8, 6, 4], 5), 'square': product([8, 6, 4], 6),
            'classes': product([8, 4], 8),
            'image': model([h.make_node('Conv', ['x', 'head.weight'], ['logits'], name='conv')],
                           weights(head__weight=(5, 3, 1, 1)), [value('x', [8, 3, 4, 6])],
                           [value('logits', [8, 5, 4, 6])])}
    made.update({f'integer-{op}': integer(op, **attributes) for op, attributes in INTEGER.items()})
    for name, each in made.items():
        onnx.save(each, os.path.join(folder, name + '.onnx'))
