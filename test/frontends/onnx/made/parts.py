"""What the makers of models share: tensors, nodes, models, and the folder they are written to."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Inputs")
F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def f32(name, *shape, seed=0):
    return tensor(name, np.random.RandomState(seed + len(name)).randn(*shape).astype(np.float32))


def value(name, shape=(2, 4), type=F32):
    return helper.make_tensor_value_info(name, type, shape)


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or outputs[0] + "_node", **attributes)


def model(nodes, initializers=(), inputs=None, outputs=None, opset=17, ir=8, functions=(), imports=()):
    inputs = [value("x")] if inputs is None else inputs
    outputs = [value("y")] if outputs is None else outputs
    graph = helper.make_graph(list(nodes), "test", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in imports]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions))


def save(name, m):
    data = m if isinstance(m, bytes) else m.SerializeToString()
    with open(os.path.join(OUT, name + ".onnx"), "wb") as f:
        f.write(data)


def good(name, m):
    onnx.checker.check_model(m)
    save(name, m)


relu = lambda: model([node("Relu", ["x"], ["y"])])


def function(name, nodes, inputs, outputs, attributes=(), imports=()):
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(d, 1) for d in imports]
    return helper.make_function("local", name, inputs, outputs, nodes, opsets, attributes)
