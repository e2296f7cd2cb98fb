"""Makes recurrent models: over the samples, with a second dimension of the same extent, and as TorchScript writes them."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GATES = {'RNN': 1, 'GRU': 3, 'LSTM': 4}
# The order of ONNX's gates among PyTorch's.
ORDER = {'RNN': [0], 'GRU': [1, 0, 2], 'LSTM': [0, 3, 1, 2]}
SAMPLES, INPUTS, HIDDEN, CLASSES, STEPS = 6, 3, 4, 5, 4


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def save(path, nodes, inputs, outputs, initializers, producer='test'):
    for index, node in enumerate(nodes):
        node.name = f'n{index}_{node.op_type}'
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in initializers.items()]
    model = helper.make_model(helper.make_graph(nodes, 'test', inputs, outputs, tensors), producer_name=producer,
                              opset_imports=[helper.make_opsetid('', 18)])
    model.ir_version = 8
    onnx.save(model, path)


def floats(random, *shape):
    return (random.standard_normal(shape) / 2).astype(np.float32)


def make_square(path, op, directions):
    """The recurrence runs over the samples; beside them lies a dimension of the same extent."""
    random = np.random.default_rng(1)
    initializers = {'W': floats(random, directions, GATES[op] * HIDDEN, INPUTS),
                    'R': floats(random, directions, GATES[op] * HIDDEN, HIDDEN), 'w': floats(random, HIDDEN, CLASSES)}
    nodes = [helper.make_node(op, ['x', 'W', 'R'], ['y'], hidden_size=HIDDEN,
                              direction='bidirectional' if directions == 2 else 'forward'),
             helper.make_node('MatMul', ['y', 'w'], ['logits'])]
    save(path, nodes, [value('x', [SAMPLES, SAMPLES, INPUTS])],
         [value('logits', [SAMPLES, directions, SAMPLES, CLASSES])], initializers)


def make_scan(path):
    """The same as a Scan."""
    random = np.random.default_rng(1)
    state, taken = value('h', [SAMPLES, HIDDEN]), value('each', [SAMPLES, INPUTS])
    body = helper.make_graph(
        [helper.make_node('MatMul', ['each', 'W'], ['a']), helper.make_node('MatMul', ['h', 'R'], ['b']),
         helper.make_node('Add', ['a', 'b'], ['c']), helper.make_node('Tanh', ['c'], ['next']),
         helper.make_node('Identity', ['next'], ['out'])],
        'body', [state, taken], [value('next', [SAMPLES, HIDDEN]), value('out', [SAMPLES, HIDDEN])])
    nodes = [helper.make_node('Scan', ['start', 'x'], ['last', 'y'], body=body, num_scan_inputs=1),
             helper.make_node('MatMul', ['y', 'w'], ['logits'])]
    save(path, nodes, [value('x', [SAMPLES, SAMPLES, INPUTS])], [value('logits', [SAMPLES, SAMPLES, CLASSES])],
         {'start': np.zeros((SAMPLES, HIDDEN), np.float32), 'W': floats(random, INPUTS, HIDDEN),
          'R': floats(random, HIDDEN, HIDDEN), 'w': floats(random, HIDDEN, CLASSES)})


def make_torchscript(path, op, directions):
    """Parameters in PyTorch's order of gates: the graph cuts them, joins them in ONNX's, and joins both directions."""
    random = np.random.default_rng(1)
    initializers, nodes, joined = {'w': floats(random, directions * HIDDEN, CLASSES)}, [], {'W': [], 'R': [], 'B': []}

    def add(op_type, inputs, output, **attributes):
        nodes.append(helper.make_node(op_type, inputs, [output], **attributes))
        return output

    def constant(name, numbers):
        initializers[name] = np.array(numbers)
        return name
    constant('zero', [0])
    for direction in range(directions):
        end, parts = '_reverse' * direction, {}
        for name, shape in {'weight_ih': [INPUTS], 'weight_hh': [HIDDEN], 'bias_ih': [], 'bias_hh': []}.items():
            parameter = f'layers.{name}_l0{end}'
            initializers[parameter] = floats(random, GATES[op] * HIDDEN, *shape)
            gates = [add('Slice', [parameter, constant(f'{parameter}/{gate}', [gate * HIDDEN]),
                                   constant(f'{parameter}/{gate}/end', [(gate + 1) * HIDDEN]), 'zero'],
                         f'{parameter}/slice{gate}') for gate in ORDER[op]]
            parts[name] = add('Concat', gates, f'{parameter}/gates', axis=0)
        bias = add('Concat', [parts['bias_ih'], parts['bias_hh']], f'bias{end}', axis=0)
        for which, part in (('W', parts['weight_ih']), ('R', parts['weight_hh']), ('B', bias)):
            joined[which].append(add('Unsqueeze', [part, 'zero'], f'{which}{end}'))
    operands = [add('Concat', parts, f'{which}/both', axis=0) for which, parts in joined.items()]
    nodes.append(helper.make_node('Transpose', ['x'], ['steps'], perm=[1, 0, 2]))
    more = {'linear_before_reset': 1} if op == 'GRU' else {}
    nodes.append(helper.make_node(op, ['steps', *operands], ['y'], hidden_size=HIDDEN, **more,
                                  direction='bidirectional' if directions == 2 else 'forward'))
    add('Transpose', ['y'], 'rows', perm=[2, 0, 1, 3])
    add('Reshape', ['rows', constant('shape', [8, STEPS, directions * HIDDEN] if directions == 1 else
                                     [8, directions, STEPS, HIDDEN])], 'apart')
    if directions == 2:
        add('Transpose', ['apart'], 'together', perm=[0, 2, 1, 3])
        add('Reshape', ['together', constant('flat', [8, STEPS, directions * HIDDEN])], 'features')
    else:
        add('Identity', ['apart'], 'features')
    add('MatMul', ['features', 'w'], 'logits')
    save(path, nodes, [value('x', [8, STEPS, INPUTS])], [value('logits', [8, STEPS, CLASSES])], initializers, 'pytorch')


def make_data(path, shape, label, steps):
    random = np.random.default_rng(2)
    np.savez(path, x=floats(random, steps * shape[0], *shape[1:]), label=floats(random, steps * label[0], *label[1:]))
