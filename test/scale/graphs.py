"""Graphs of any size, of which a size is a number of equal or similar parts."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper


def _save(path, nodes, inputs, output, weights):
    values = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    graph = helper.make_graph(nodes, 'graph', values, [helper.make_tensor_value_info(output, TensorProto.FLOAT, [])],
                              [numpy_helper.from_array(value, name) for name, value in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=8)
    with open(path, 'wb') as file:
        file.write(model.SerializeToString())


def _weights(*shape):
    return (np.random.default_rng(0).standard_normal(shape) / 4).astype(np.float32)


def columns(path, count):
    """`count` tables of several sizes, whose rows lie side by side in what a layer reads."""
    weights, nodes, width = {'hidden': None, 'out': _weights(16, 1)}, [], 0
    for column in range(count):
        weights[f'column{column}'] = np.array(column)
        weights[f'table{column}'] = _weights(10 + 3 * column, 4 + column % 3)
        width += 4 + column % 3
        nodes += [helper.make_node('Gather', ['ids', f'column{column}'], [f'id{column}'], axis=1),
                  helper.make_node('Gather', [f'table{column}', f'id{column}'], [f'row{column}'])]
    weights['hidden'] = _weights(width, 16)
    nodes += [helper.make_node('Concat', [f'row{column}' for column in range(count)], ['rows'], axis=1),
              helper.make_node('MatMul', ['rows', 'hidden'], ['product']), helper.make_node('Tanh', ['product'], ['tanh']),
              helper.make_node('MatMul', ['tanh', 'out'], ['y']), helper.make_node('ReduceMean', ['y'], ['loss'], keepdims=0)]
    _save(path, nodes, [('ids', TensorProto.INT64, [8, count])], 'loss', weights)


def chain(path, count):
    """`count` small layers, one after the other."""
    weights, nodes = {}, []
    for layer in range(count):
        before = f'y{layer - 1}' if layer else 'x'
        weights[f'weight{layer}'], weights[f'bias{layer}'] = _weights(8, 8), np.zeros(8, np.float32)
        nodes += [helper.make_node('MatMul', [before, f'weight{layer}'], [f'product{layer}']),
                  helper.make_node('Add', [f'product{layer}', f'bias{layer}'], [f'sum{layer}']),
                  helper.make_node('Relu', [f'sum{layer}'], [f'y{layer}'])]
    nodes.append(helper.make_node('ReduceMean', [f'y{count - 1}'], ['loss'], keepdims=0))
    _save(path, nodes, [('x', TensorProto.FLOAT, [8, 8])], 'loss', weights)


def fan(path, count):
    """`count` layers that read one tensor and whose results are added up."""
    weights, nodes = {}, []
    for layer in range(count):
        weights[f'weight{layer}'] = _weights(8, 8)
        nodes += [helper.make_node('MatMul', ['x', f'weight{layer}'], [f'product{layer}']),
                  helper.make_node('Tanh', [f'product{layer}'], [f'y{layer}'])]
    nodes += [helper.make_node('Sum', [f'y{layer}' for layer in range(count)], ['y']),
              helper.make_node('ReduceMean', ['y'], ['loss'], keepdims=0)]
    _save(path, nodes, [('x', TensorProto.FLOAT, [8, 8])], 'loss', weights)


def bags(path, count):
    """Means of `count` bags of three rows of a table, as PyTorch's default exporter writes an EmbeddingBag."""
    integer, flag = TensorProto.INT64, TensorProto.BOOL
    node, info = helper.make_node, helper.make_tensor_value_info
    empty = helper.make_graph([node('Identity', ['zeros'], ['none'])], 'empty', [], [info('none', TensorProto.FLOAT, [1, 8])])
    full = helper.make_graph([node('Slice', ['rows', 'start', 'end'], ['some']), node('ReduceMean', ['some', 'zero'], ['mean'])], 'full',
                             [], [info('mean', TensorProto.FLOAT, [1, 8])])
    body = helper.make_graph(
        [node('Reshape', ['i', 'flat'], ['at']), node('Add', ['at', 'one'], ['next']), node('Add', ['at', 'two'], ['last']),
         node('Slice', ['offsets', 'at', 'next'], ['start']), node('Slice', ['offsets', 'next', 'last'], ['end']),
         node('Equal', ['start', 'end'], ['is_empty']), node('If', ['is_empty'], ['bag'], then_branch=empty, else_branch=full),
         node('SequenceInsert', ['before', 'bag'], ['after']), node('Add', ['i', 'one_more'], ['j']), node('Less', ['j', 'count'], ['more'])],
        'body', [info('trip', integer, []), info('go', flag, []), info('i', integer, []),
                 helper.make_tensor_sequence_value_info('before', TensorProto.FLOAT, None)],
        [info('more', flag, []), info('j', integer, []), helper.make_tensor_sequence_value_info('after', TensorProto.FLOAT, None)])
    nodes = [node('Reshape', ['ids', 'flat'], ['all']), node('Gather', ['table', 'all'], ['rows']), node('SequenceEmpty', [], ['nothing']),
             node('Loop', ['', 'yes', 'first', 'nothing'], ['end_i', 'sequence'], body=body),
             node('ConcatFromSequence', ['sequence'], ['bags'], axis=0), node('MatMul', ['bags', 'out'], ['y']),
             node('ReduceMean', ['y'], ['loss'], keepdims=0)]
    _save(path, nodes, [('ids', integer, [count, 3])], 'loss', {
        'table': _weights(100, 8), 'out': _weights(8, 1), 'offsets': np.arange(0, 3 * count + 1, 3), 'zeros': np.zeros((1, 8), np.float32),
        'flat': np.array([-1]), 'zero': np.array([0]), 'one': np.array([1]), 'two': np.array([2]), 'one_more': np.array(1),
        'count': np.array(count), 'first': np.array(0), 'yes': np.array(True)})


def loop(path, count):
    """A recurrent cell over `count` steps, as a Loop: it carries a state, and its states are stacked."""
    node, info = helper.make_node, helper.make_tensor_value_info
    number, flag, real = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
    body = helper.make_graph(
        [node('Identity', ['go'], ['goes']), node('Gather', ['x', 'i'], ['now']), node('MatMul', ['now', 'of_x'], ['a']),
         node('MatMul', ['before', 'of_state'], ['b']), node('Add', ['a', 'b'], ['sum']), node('Tanh', ['sum'], ['after']),
         node('Identity', ['after'], ['state'])],
        'body', [info('i', number, []), info('go', flag, []), info('before', real, [4, 8])],
        [info('goes', flag, []), info('after', real, [4, 8]), info('state', real, [4, 8])])
    nodes = [node('Loop', ['count', '', 'start'], ['last', 'states'], body=body), node('MatMul', ['states', 'out'], ['y']),
             node('ReduceMean', ['y'], ['loss'], keepdims=0)]
    _save(path, nodes, [('x', real, [count, 4, 8])], 'loss', {
        'of_x': _weights(8, 8), 'of_state': _weights(8, 8), 'start': np.zeros((4, 8), np.float32), 'out': _weights(8, 1),
        'count': np.array(count)})


def scan(path, count):
    """The same as a Scan, of which only the last state is used."""
    node, info, real = helper.make_node, helper.make_tensor_value_info, TensorProto.FLOAT
    body = helper.make_graph(
        [node('MatMul', ['now', 'of_x'], ['a']), node('MatMul', ['before', 'of_state'], ['b']), node('Add', ['a', 'b'], ['sum']),
         node('Tanh', ['sum'], ['after'])],
        'body', [info('before', real, [4, 8]), info('now', real, [4, 8])], [info('after', real, [4, 8])])
    nodes = [node('Scan', ['start', 'x'], ['last'], body=body, num_scan_inputs=1), node('MatMul', ['last', 'out'], ['y']),
             node('ReduceMean', ['y'], ['loss'], keepdims=0)]
    _save(path, nodes, [('x', real, [count, 4, 8])], 'loss', {
        'of_x': _weights(8, 8), 'of_state': _weights(8, 8), 'start': np.zeros((4, 8), np.float32), 'out': _weights(8, 1)})


def squares(path, count):
    """A Loop of `count` steps that squares what it carries: one long chain of operators on elements."""
    node, info, real = helper.make_node, helper.make_tensor_value_info, TensorProto.FLOAT
    body = helper.make_graph(
        [node('Identity', ['go'], ['goes']), node('Mul', ['before', 'before'], ['after'])],
        'body', [info('i', TensorProto.INT64, []), info('go', TensorProto.BOOL, []), info('before', real, [4])],
        [info('goes', TensorProto.BOOL, []), info('after', real, [4])])
    nodes = [node('Mul', ['x', 'weight'], ['start']), node('Loop', ['count', '', 'start'], ['last'], body=body),
             node('ReduceMean', ['last'], ['loss'], keepdims=0)]
    _save(path, nodes, [('x', real, [4])], 'loss', {'weight': np.ones(4, np.float32), 'count': np.array(count)})


def shifts(path, count):
    """Differences of neighbours, and differences of these, along a dimension of `count` positions."""
    node, weights = helper.make_node, {'weight': _weights(count), 'one': np.array([1]), 'zero': np.array([0])}
    nodes = [node('Mul', ['x', 'weight'], ['y0'])]
    for step in range(2):
        for name, first, end in (('later', 'one', count - step), ('earlier', 'zero', count - step - 1)):
            weights[f'{name}{step}.end'] = np.array([end])
            nodes.append(node('Slice', [f'y{step}', first, f'{name}{step}.end', 'one'], [f'{name}{step}']))
        nodes.append(node('Sub', [f'later{step}', f'earlier{step}'], [f'y{step + 1}']))
    nodes.append(node('ReduceMean', ['y2'], ['loss'], keepdims=0))
    _save(path, nodes, [('x', TensorProto.FLOAT, [4, count])], 'loss', weights)
