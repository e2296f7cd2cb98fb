"""Merges node tests of the ONNX standard into one model; see test/onnx/run."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Operands that decide the shape of a result or of what a reduction keeps: a static compiler needs them as constants.
# 227 tests of the wheel read such an operand of a graph input.
SHAPE_OPERANDS = {
    'Reshape': [1], 'Expand': [1], 'Tile': [1], 'Slice': [1, 2, 3, 4], 'Pad': [1, 3], 'Squeeze': [1], 'Unsqueeze': [1],
    'Resize': [1, 2, 3], 'TopK': [1], 'OneHot': [1], 'Range': [0, 1, 2], 'ConstantOfShape': [0], 'Split': [1],
    **{'Reduce' + kind: [1] for kind in ('Sum', 'Max', 'Min', 'Prod', 'Mean', 'L1', 'L2', 'SumSquare', 'LogSum',
                                         'LogSumExp')}}
# The same of rarer operators, and what decides which operations there are; README.md says why.
OTHER_OPERANDS = {
    'CenterCropPad': [1], 'NonZero': [0], 'AffineGrid': [1], 'Col2Im': [1, 2], 'MaxUnpool': [2], 'BlackmanWindow': [0],
    'HammingWindow': [0], 'HannWindow': [0], 'SplitToSequence': [1], 'SequenceAt': [1], 'SequenceInsert': [2],
    'SequenceErase': [1], 'If': [0], 'Loop': [0, 1], 'Dropout': [1, 2]}
RANDOM = {'Bernoulli', 'RandomNormal', 'RandomUniform', 'RandomNormalLike', 'RandomUniformLike', 'Multinomial'}
TYPES = {getattr(TensorProto, name) for name in ('FLOAT', 'DOUBLE', 'FLOAT16', 'BFLOAT16', 'BOOL', 'INT8', 'INT16', 'INT32',
                                                 'INT64', 'UINT8', 'UINT16', 'UINT32', 'UINT64')}
NARROW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def to_array(tensor):
    array = numpy_helper.to_array(tensor)
    return array.astype(np.float32) if tensor.data_type == TensorProto.BFLOAT16 else array


def all_nodes(graph):
    """The nodes of `graph` and of the graphs in it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField('g'):
                yield from all_nodes(attribute.g)


def shape_deciding(graph):
    """Names of the inputs from which a shape-deciding operand is computed."""
    nodes = list(all_nodes(graph))
    makers = {output: node for node in nodes for output in node.output}
    inputs = {info.name for info in graph.input}
    found, seen = set(), set()
    operands = {**SHAPE_OPERANDS, **OTHER_OPERANDS}
    todo = [node.input[i] for node in nodes for i in operands.get(node.op_type, [])
            if i < len(node.input) and node.input[i]]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in inputs:
            found.add(name)
        elif name in makers and makers[name].op_type not in ('Shape', 'Size'):
            todo.extend(name for name in makers[name].input if name)
    return found


def add_prefix(graph, prefix):
    """Puts `prefix` before every name of `graph` and its subgraphs."""
    for node in graph.node:
        node.name = prefix + (node.name or node.op_type)
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name:
                    names[i] = prefix + name
        for attribute in node.attribute:
            if attribute.HasField('g'):
                add_prefix(attribute.g, prefix)
    for values in (graph.input, graph.output, graph.value_info, graph.initializer):
        for value in values:
            value.name = prefix + value.name


class Case:
    def __init__(self, name, number, model, inputs, outputs):
        self.name, self.prefix = name, f't{number:04d}_'
        self.graph = model.graph
        self.opset = next(each.version for each in model.opset_import if each.domain in ('', 'ai.onnx'))
        deciding = shape_deciding(self.graph)
        self.constants = [(n, t) for n, t in inputs if n in deciding]
        self.data = [(n, t) for n, t in inputs if n not in deciding]
        self.outputs = outputs
        add_prefix(self.graph, self.prefix)

    def output_names(self):
        return [self.prefix + name for name, _ in self.outputs]

    def compare(self, arrays, rtol, atol, half_rtol):
        for name, tensor in self.outputs:
            want, got = to_array(tensor), arrays[self.prefix + name]
            narrow = tensor.data_type in NARROW
            if got.shape != want.shape or (got.dtype != want.dtype and not narrow):
                return f"output '{name}' is {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
            want, got = want.astype(np.float64), got.astype(np.float64)
            if narrow:
                rtol, atol = half_rtol, half_rtol / 10
            if not np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True):
                with np.errstate(invalid='ignore'):
                    return f"output '{name}' is off by {np.nanmax(np.abs(got - want)):.2g}"
        return ''


def load_case(folder, name, number):
    """A Case, or why the test cannot run here."""
    model = onnx.load(os.path.join(folder, 'model.onnx'))
    domains = {each.domain or 'ai.onnx' for each in model.opset_import}
    if domains - {'ai.onnx'} or model.functions:
        return 'uses another domain or a function'
    if next(each.version for each in model.opset_import if each.domain in ('', 'ai.onnx')) < 13:
        return 'is older than opset 13'
    if any(node.op_type in RANDOM for node in model.graph.node):
        return 'is random'
    initializers = {each.name for each in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in initializers]

    def read(infos, kind):
        pairs = []
        for i, info in enumerate(infos):
            if not info.type.HasField('tensor_type'):
                raise ValueError(f"{kind} '{info.name}' is not a tensor")
            tensor = TensorProto()
            with open(os.path.join(folder, 'test_data_set_0', f'{kind}_{i}.pb'), 'rb') as file:
                tensor.ParseFromString(file.read())
            if tensor.data_type not in TYPES:
                raise ValueError(f"{kind} '{info.name}' has type {TensorProto.DataType.Name(tensor.data_type)}")
            pairs.append((info.name, tensor))
        return pairs
    try:
        pairs = read(inputs, 'input')
        outputs = [info for info in model.graph.output]
        case = Case(name, number, model, pairs, read(outputs, 'output'))
    except ValueError as error:
        return str(error)
    mode = {n: t for n, t in pairs}
    for node in model.graph.node:
        if node.op_type == 'Dropout' and len(node.input) > 2 and node.input[2]:
            flag = mode.get(node.input[2][len(case.prefix):])
            if flag is not None and to_array(flag).any():
                return 'is random'
    return case


def merge(cases, stem):
    """Writes the merged model STEM.onnx and each of its inputs as STEM.NAME.npy; returns the names of the inputs."""
    graph = onnx.GraphProto()
    graph.name = 'tests'
    # The first input says how many samples a batch has.
    graph.input.append(helper.make_tensor_value_info('rows', TensorProto.FLOAT, [1]))
    graph.node.append(helper.make_node('Neg', ['rows'], ['negative_rows']))
    graph.output.append(helper.make_tensor_value_info('negative_rows', TensorProto.FLOAT, [1]))
    names = ['rows']
    np.save(stem + '.rows.npy', np.zeros(1, np.float32))
    for case in cases:
        for name, tensor in case.constants:
            constant = graph.initializer.add()
            constant.CopyFrom(tensor)
            constant.name = case.prefix + name
        for name, tensor in case.data:
            name = case.prefix + name
            array = to_array(tensor)
            graph.input.append(helper.make_tensor_value_info(name, tensor.data_type, array.shape))
            np.save(f'{stem}.{name}.npy', array)
            names.append(name)
        graph.initializer.extend(case.graph.initializer)
        graph.node.extend(case.graph.node)
        graph.output.extend(helper.make_tensor_value_info(case.prefix + name, tensor.data_type, list(tensor.dims))
                            for name, tensor in case.outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', cases[0].opset)], ir_version=13)
    onnx.save(model, stem + '.onnx')
    return names
