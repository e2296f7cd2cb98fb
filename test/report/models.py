"""Small models for tests of reports, made with the package onnx."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH = 64


def chain(path, layers, width=32, name='linear_{}'):
    """A model of `layers` layers of `width` features, whose nodes have the name `name` with the number of their layer."""
    random = np.random.default_rng(1)
    nodes, weights, value = [], [], 'x'
    for layer in range(layers):
        weight = random.standard_normal((width, width)).astype(np.float32) / width**0.5
        weights.append(numpy_helper.from_array(weight, f'w.{layer}'))
        last = layer == layers - 1
        product = 'logits' if last else f'product.{layer}'
        nodes.append(helper.make_node('MatMul', [value, f'w.{layer}'], [product], name=name.format(layer)))
        if not last:
            nodes.append(helper.make_node('Relu', [product], [f'act.{layer}'], name=f'relu_{layer}'))
        value = f'act.{layer}'
    graph = helper.make_graph(nodes, 'chain', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [BATCH, width])],
                              [helper.make_tensor_value_info('logits', TensorProto.FLOAT, [BATCH, width])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], ir_version=10), path)
    return path
