"""Small models, made by hand, whose inputs and outputs are unusual."""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

NUMPY = {T.FLOAT: np.float32, T.INT64: np.int64, T.INT32: np.int32, T.BOOL: np.bool_}


def model(nodes, inputs, outputs, initializers=()):
    """Inputs and outputs are (name, type, shape); initializers (name, array)."""
    graph = h.make_graph(nodes, 'hand', [h.make_tensor_value_info(*i) for i in inputs],
                         [h.make_tensor_value_info(*o) for o in outputs],
                         [numpy_helper.from_array(array, name) for name, array in initializers])
    made = h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def weight(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def types():
    """Outputs of several types; a value that is two outputs; an input and an initializer that are outputs."""
    return model(
        [h.make_node('MatMul', ['x', 'w'], ['y']), h.make_node('ArgMax', ['y'], ['best'], axis=1, keepdims=0),
         h.make_node('Greater', ['y', 'zero'], ['positive']), h.make_node('Identity', ['y'], ['again']),
         h.make_node('Identity', ['x'], ['given']), h.make_node('Identity', ['w'], ['weight']),
         h.make_node('Cast', ['y'], ['whole'], to=T.INT32)],
        [('x', T.FLOAT, [6, 5])],
        [('y', T.FLOAT, [6, 7]), ('best', T.INT64, [6]), ('positive', T.BOOL, [6, 7]), ('again', T.FLOAT, [6, 7]),
         ('given', T.FLOAT, [6, 5]), ('weight', T.FLOAT, [5, 7]), ('whole', T.INT32, [6, 7])],
        [('w', weight(5, 7)), ('zero', np.zeros((), np.float32))])


def several():
    """Two inputs with the batch, one without; outputs with it merged, second, and gone."""
    return model(
        [h.make_node('Gather', ['table', 'ids'], ['e']), h.make_node('Add', ['e', 'offset'], ['a']),
         h.make_node('Mul', ['a', 'scale'], ['b']), h.make_node('Reshape', ['b', 'rows'], ['merged']),
         h.make_node('Transpose', ['b'], ['time_major'], perm=[1, 0, 2]),
         h.make_node('ReduceMean', ['b'], ['mean'], keepdims=0),
         h.make_node('Not', ['keep'], ['dropped'])],
        [('ids', T.INT64, [4, 3]), ('keep', T.BOOL, [4]), ('scale', T.FLOAT, [5])],
        [('merged', T.FLOAT, [12, 5]), ('time_major', T.FLOAT, [3, 4, 5]), ('mean', T.FLOAT, []),
         ('dropped', T.BOOL, [4])],
        [('table', weight(9, 5)), ('offset', weight(3, 5, seed=1)), ('rows', np.array([-1, 5]))])


def nothing():
    """No input at all; a scalar output."""
    return model([h.make_node('ReduceSum', ['w'], ['total'], keepdims=0), h.make_node('Exp', ['w'], ['y'])],
                 [], [('total', T.FLOAT, []), ('y', T.FLOAT, [3, 4])], [('w', weight(3, 4))])


def time_major():
    """The batch is the second dimension of the input."""
    return model([h.make_node('MatMul', ['x', 'w'], ['y']), h.make_node('ReduceSum', ['y', 'first'], ['s'], keepdims=0)],
                 [('x', T.FLOAT, [3, 4, 5])], [('y', T.FLOAT, [3, 4, 2]), ('s', T.FLOAT, [4, 2])],
                 [('w', weight(5, 2)), ('first', np.array([0]))])


def dropout():
    """In training mode, as torch.onnx exports it with training=TRAINING."""
    return model([h.make_node('Dropout', ['x', 'ratio', 'on'], ['d']), h.make_node('MatMul', ['d', 'w'], ['y'])],
                 [('x', T.FLOAT, [6, 5])], [('y', T.FLOAT, [6, 2])],
                 [('ratio', np.array(0.5, np.float32)), ('on', np.array(True)), ('w', weight(5, 2))])


def to_inference(made):
    """A training-mode model in the form that runtimes execute."""
    made = onnx.ModelProto.FromString(made.SerializeToString())
    for node in made.graph.node:
        if node.op_type == 'BatchNormalization':
            del node.output[1:]
            kept = [a for a in node.attribute if a.name != 'training_mode']
            del node.attribute[:]
            node.attribute.extend(kept)
        if node.op_type == 'Dropout':
            del node.input[2:]
    return made
