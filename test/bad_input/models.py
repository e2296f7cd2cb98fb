"""ONNX files with one defect each, beside those of test/frontends/onnx/Inputs. make(folder) writes them and yields
(file, what the one line of the error must say)."""
import os

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper


def value(name, shape=(2, 4), kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)


def weight(*shape, name='w'):
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def model(nodes, initializers=(), inputs=None, outputs=None, functions=(), opsets=(('', 17),)):
    graph = h.make_graph(nodes, 'bad', inputs or [value('x')], outputs or [value('y')], list(initializers))
    return h.make_model(graph, opset_imports=[h.make_opsetid(*o) for o in opsets], ir_version=8,
                        functions=list(functions))


def one(op, inputs, *initializers, outputs=('y',), opset=17, shape=(2, 4), **attributes):
    return model([h.make_node(op, inputs, list(outputs), name='the_node', **attributes)],
                 initializers, [value('x', shape)], opsets=[('', opset)])


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def semantics():
    """Operands and attributes that do not fit; each message names the node."""
    image = dict(shape=(1, 3, 8, 8))
    kernel = weight(4, 3, 3, 3)
    yield 'concat-axis', one('Concat', ['x', 'x'], axis=5)
    yield 'squeeze-extent', one('Squeeze', ['x', 'a'], ints('a', 1))
    yield 'conv-rank', one('Conv', ['x', 'w'], kernel)
    yield 'conv-group-zero', one('Conv', ['x', 'w'], kernel, group=0, **image)
    yield 'conv-channels', one('Conv', ['x', 'w'], weight(4, 5, 3, 3), **image)
    yield 'conv-pads', one('Conv', ['x', 'w'], kernel, pads=[0, 0, 0, 2 ** 62], **image)
    yield 'conv-kernel', one('Conv', ['x', 'w'], kernel, kernel_shape=[5, 5], **image)
    yield 'conv-too-large', one('Conv', ['x', 'w'], weight(4, 3, 9, 9), **image)
    yield 'pool-kernel-zero', one('MaxPool', ['x'], kernel_shape=[0, 2], **image)
    yield 'pool-stride-zero', one('MaxPool', ['x'], kernel_shape=[2, 2], strides=[0, 1], **image)
    yield 'pool-no-kernel', one('MaxPool', ['x'], **image)
    yield 'reshape-zero', one('Reshape', ['x', 's'], ints('s', 0, 0, 0))
    yield 'reshape-elements', one('Reshape', ['x', 's'], ints('s', 3, 3))
    yield 'split-sum', one('Split', ['x', 's'], ints('s', 1, 1), outputs=('y', 'z'), axis=1)
    yield 'pad-negative', one('Pad', ['x', 'p'], ints('p', -3, 0, 0, 0))
    yield 'tile-negative', one('Tile', ['x', 'r'], ints('r', 1, -1))
    yield 'tile-huge', one('Tile', ['x', 'r'], ints('r', 2 ** 40, 2 ** 40))
    yield 'matmul-inner', one('MatMul', ['x', 'w'], weight(3, 5))
    yield 'gemm-rank', one('Gemm', ['x', 'w'], weight(4, 5), shape=(2, 2, 4))
    yield 'add-shapes', one('Add', ['x', 'w'], weight(3, 4))
    yield 'batch-norm-scale', one('BatchNormalization', ['x', 'w', 'b', 'm', 'v'],
                                  *(weight(4, name=n) for n in 'wbmv'), **image)
    yield 'layer-norm-axis', one('LayerNormalization', ['x', 'w'], weight(4), axis=3)
    yield 'gather-scalar', one('Gather', ['x', 'i'], ints('i', 0), shape=())
    yield 'top-k', one('TopK', ['x', 'k'], ints('k', 9), outputs=('y', 'i'))
    yield 'arity', one('Relu', ['x', 'x'])
    yield 'attribute-type', one('Softmax', ['x'], axis='last')
    for name, shape in (('huge-constant', [2 ** 62, 2 ** 62]), ('negative-constant', [-4])):
        yield name, model([h.make_node('ConstantOfShape', ['s'], ['c'], name='the_node'),
                           h.make_node('ReduceSum', ['c'], ['r'], name='sum'),
                           h.make_node('Add', ['x', 'r'], ['y'], name='add')], [ints('s', *shape)])
    yield 'division-by-zero', model(
        [h.make_node('Div', ['a', 'b'], ['c'], name='the_node'),
         h.make_node('Reshape', ['x', 'c'], ['y'], name='reshape')], [ints('a', 8), ints('b', 0)])
    yield 'range-step', model(
        [h.make_node('Range', ['a', 'b', 'z'], ['c'], name='the_node'),
         h.make_node('Cast', ['c'], ['d'], name='cast', to=T.FLOAT),
         h.make_node('Add', ['x', 'd'], ['y'], name='add')],
        [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (('a', 0), ('b', 4), ('z', 0))])


def graphs():
    """Structure; (name, model, what the message says)."""
    relu = lambda a, b, **k: h.make_node('Relu', [a], [b], name=b + '_node', **k)
    yield 'same-input-twice', model([relu('x', 'y')], inputs=[value('x'), value('x')]), 'x'
    yield 'output-of-nothing', model([relu('x', 'z')]), 'y'
    yield 'unknown-op', one('Frobnicate', ['x']), 'Frobnicate'
    yield 'foreign-op', model([h.make_node('Gelu', ['x'], ['y'], name='g', domain='com.microsoft')],
                              opsets=[('', 17), ('com.microsoft', 1)]), 'com.microsoft'
    yield 'two-unknown-ops', model([h.make_node('FrobA', ['x'], ['z'], name='a'),
                                    h.make_node('FrobB', ['z'], ['y'], name='b')]), 'FrobB'
    yield 'op-of-later-opset', one('Gelu', ['x'], opset=17), 'Gelu'
    branch = lambda name: h.make_graph([relu('nowhere', name)], 'branch', [], [value(name)])
    yield 'if-captures-undefined', model(
        [h.make_node('If', ['c'], ['y'], name='the_if', then_branch=branch('t'), else_branch=branch('e'))],
        inputs=[value('c', (), T.BOOL)]), 'nowhere'
    yield 'dynamic', one('Relu', ['x'], shape=('n', 4)), '--shape'
    yield 'no-shape', model([relu('x', 'y')], inputs=[h.make_tensor_value_info('x', T.FLOAT, None)]), '--shape'
    yield 'string-input', model([relu('x', 'y')], inputs=[value('x', (2, 4), T.STRING)]), 'STRING'
    body = [h.make_node('F', ['a'], ['b'], domain='local')]
    yield 'undeclared-function', model([h.make_node('F', ['x'], ['y'], name='f', domain='local')],
                                       opsets=[('', 17), ('local', 1)]), 'F'
    yield 'function-calls-itself', model(
        [h.make_node('F', ['x'], ['y'], name='f', domain='local')], opsets=[('', 17), ('local', 1)],
        functions=[h.make_function('local', 'F', ['a'], ['b'], body,
                                   [h.make_opsetid('', 17), h.make_opsetid('local', 1)])]), 'F'


def raw_files(good):
    """Bytes that are no model."""
    yield 'truncated-early', good[:7]
    yield 'truncated-middle', good[:len(good) // 2]
    yield 'truncated-late', good[:-1]
    yield 'trailing-zeros', good + b'\0' * 16
    yield 'trailing-text', good + b'garbage'
    yield 'text', b'ir_version: 8\ngraph { name: "g" }\n'
    yield 'elf', b'\x7fELF' + bytes(60)
    yield 'zip', b'PK\x03\x04' + bytes(60)
    yield 'json', b'{"graph": {}}'
    yield 'one-byte', b'\x08'
    yield 'huge-length', b'\x3a\xff\xff\xff\xff\x7f' + bytes(32)


def external(folder, stem, **fields):
    """A model whose one weight, of 16 floats, lies outside."""
    made = model([h.make_node('MatMul', ['x', 'w'], ['y'], name='the_node')])
    tensor = made.graph.initializer.add()
    tensor.name, tensor.data_type = 'w', T.FLOAT
    tensor.dims.extend([4, 4])
    tensor.data_location = T.EXTERNAL
    for key, text in fields.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(text)
    return made


def externals(folder):
    data = os.path.join(folder, 'weights.bin')
    with open(data, 'wb') as file:
        file.write(bytes(64))
    os.symlink('weights.bin', os.path.join(folder, 'symlink.bin'))
    with open(os.path.join(folder, 'linked.bin'), 'wb') as file:
        file.write(bytes(64))
    os.link(os.path.join(folder, 'linked.bin'), os.path.join(folder, 'linked2.bin'))
    os.mkfifo(os.path.join(folder, 'fifo.bin'))
    os.mkdir(os.path.join(folder, 'folder.bin'))
    os.mkdir(os.path.join(folder, 'real'))
    with open(os.path.join(folder, 'real', 'weights.bin'), 'wb') as file:
        file.write(bytes(64))
    os.symlink('real', os.path.join(folder, 'alias'))
    for name, location in (('symlink', 'symlink.bin'), ('symlinked-folder', 'alias/weights.bin'),
                           ('hard-link', 'linked.bin'), ('fifo', 'fifo.bin'), ('directory', 'folder.bin'),
                           ('absolute', data), ('device', '/dev/zero'), ('procfs', '/proc/self/mem'),
                           ('parent', '../weights.bin'), ('inner-parent', 'real/../weights.bin'),
                           ('dot', './../weights.bin'), ('unc', '\\\\host\\weights.bin'), ('empty', ''),
                           ('missing', 'absent.bin'), ('drive', 'C:\\weights.bin')):
        yield name, external(folder, name, location=location)
    for name, offset, length in (('negative-offset', -1, 64), ('negative-length', 0, -64), ('past-end', 32, 64),
                                 ('overflow', 2 ** 63 - 1, 64), ('no-number', 'abc', 64), ('short', 0, 60),
                                 ('long', 0, 128), ('float-offset', '0.5', 64)):
        yield name, external(folder, name, location='weights.bin', offset=offset, length=length)


def make(folder):
    good = one('MatMul', ['x', 'w'], weight(4, 4)).SerializeToString()

    def write(name, data):
        path = os.path.join(folder, name + '.onnx')
        with open(path, 'wb') as file:
            file.write(data if isinstance(data, bytes) else data.SerializeToString())
        return path

    for name, made in semantics():
        yield write('semantics-' + name, made), 'the_node'
    for name, made, text in graphs():
        yield write('graph-' + name, made), text
    for name, data in raw_files(good):
        path = write('file-' + name, data)
        yield path, path
    for name, made in externals(folder):
        yield write('external-' + name, made), "'w'"
    huge = os.path.join(folder, 'file-over-2-gib.onnx')
    with open(huge, 'wb') as file:
        file.truncate(2 ** 31)
    yield huge, huge
    yield os.path.join(folder, 'absent.onnx'), 'absent.onnx'
    yield os.path.join(folder, 'folder.bin'), 'folder.bin'
