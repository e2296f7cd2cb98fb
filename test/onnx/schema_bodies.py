"""Cases of the operators that hold graphs (If, Loop, Scan) or pass sequences, which one node alone does not show."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from schema_forms import TYPES, Case

FLOAT = T.FLOAT
node = helper.make_node


def value(name, kind=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def graph(nodes, inputs, outputs, initializers=()):
    """A body; the inputs and outputs are names of floats, or (name, type) or (name, type, shape)."""
    def infos(names):
        return [value(*([name] if isinstance(name, str) else name)) for name in names]
    return helper.make_graph(nodes, 'body', infos(inputs), infos(outputs), list(initializers))


def constant(name, array):
    return node('Constant', [], [name], value=numpy_helper.from_array(np.asarray(array), name))


def arrays(**named):
    return {name: np.asarray(array) for name, array in named.items()}


X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2.5


class Bodies:
    """Collects the cases of one operator at one version."""

    def __init__(self, schema):
        self.schema, self.cases = schema, []
        self.types = [text[7:-1] for text in schema.type_constraints[0].allowed_type_strs
                      if text.startswith('tensor(') and text[7:-1] in TYPES]

    def add(self, label, nodes, inputs, outputs):
        assert any(each.op_type == self.schema.name for each in nodes)
        self.cases.append(Case(self.schema.name, self.schema.since_version, label, nodes, inputs, outputs))

    def dtypes(self, constraint):
        texts = next(each.allowed_type_strs for each in self.schema.type_constraints
                     if each.type_param_str == constraint)
        return {name: dtype for name, dtype in TYPES.items()
                if f'tensor({name})' in texts or f'seq(tensor({name}))' in texts}


def if_cases(b):
    for holds in (True, False):
        b.add(f'cond {holds}', [node('If', ['c'], ['y'], then_branch=graph([node('Neg', ['x'], ['a'])], [], ['a']),
                                     else_branch=graph([node('Abs', ['x'], ['e'])], [], ['e']))],
              arrays(c=np.array(holds), x=X), ['y'])
        b.add(f'cond {holds} of one element, two results', [
            node('If', ['c'], ['y', 'z'],
                 then_branch=graph([node('Neg', ['x'], ['a']), node('Exp', ['a'], ['b'])], [], ['a', 'b']),
                 else_branch=graph([constant('a', np.float32(3)), node('Add', ['x', 'a'], ['b'])], [], ['b', 'a']))],
              arrays(c=np.array([holds]), x=X), ['y', 'z'])
    for name, dtype in b.dtypes('V').items():
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        b.add(f'V {name}', [node('If', ['c'], ['y'],
                                 then_branch=graph([node('Identity', ['x'], ['a'])], [], [('a', kind)]),
                                 else_branch=graph([node('Identity', ['x'], ['e'])], [], [('e', kind)]))],
              arrays(c=np.array(True), x=np.abs(X).astype(dtype)), ['y'])
    b.add('nested', [node('If', ['c'], ['y'], then_branch=graph([
        node('If', ['d'], ['i'], then_branch=graph([node('Neg', ['x'], ['a'])], [], ['a']),
             else_branch=graph([node('Abs', ['x'], ['e'])], [], ['e']))], [], ['i']),
        else_branch=graph([node('Exp', ['x'], ['f'])], [], ['f']))],
        arrays(c=np.array(True), d=np.array(False), x=X), ['y'])
    empty = graph([node('SequenceConstruct', ['x', 'x'], ['a'])], [], [], [])
    sequence = helper.make_tensor_sequence_value_info('a', FLOAT, None)
    empty.output.append(sequence)
    b.add('a sequence', [node('If', ['c'], ['s'], then_branch=empty, else_branch=empty),
                         node('SequenceLength', ['s'], ['y'])], arrays(c=np.array(True), x=X), ['y'])


def loop_cases(b):
    scalars = dict(n=np.array(3), go=np.array(True))
    body = graph([node('Identity', ['c'], ['c2']), node('Add', ['v', 'x'], ['v2']), node('Mul', ['v', 'v'], ['s'])],
                 [('i', T.INT64, []), ('c', T.BOOL, []), 'v'], [('c2', T.BOOL), 'v2', 's'])
    for label, inputs in (('count and condition', ['n', 'go']), ('count', ['n', ''])):
        b.add(label, [node('Loop', [*inputs, 'x'], ['y', 'z'], body=body)],
              {**{k: v for k, v in arrays(**scalars).items() if k in inputs}, 'x': X}, ['y', 'z'])
    b.add('only the stacked result', [node('Loop', ['n', 'go', 'x'], ['', 'z'], body=body)], arrays(**scalars, x=X), ['z'])
    b.add('only the carried result', [node('Loop', ['n', 'go', 'x'], ['y', ''], body=body)], arrays(**scalars, x=X), ['y'])
    until = graph([constant('k', np.int64(2)), node('Less', ['i', 'k'], ['c2']), node('Add', ['v', 'x'], ['v2'])],
                  [('i', T.INT64, []), ('c', T.BOOL, []), 'v'], [('c2', T.BOOL), 'v2'])
    b.add('condition', [node('Loop', ['', 'go', 'x'], ['y'], body=until)], arrays(go=np.array(True), x=X), ['y'])
    b.add('count ends after the condition', [node('Loop', ['n', '', 'x'], ['y'], body=until)],
          arrays(n=np.array(9), x=X), ['y'])
    b.add('no turn', [node('Loop', ['n', 'go', 'x'], ['y'], body=until)], arrays(n=np.array(0), go=np.array(True), x=X), ['y'])
    b.add('never goes', [node('Loop', ['n', 'go', 'x'], ['y'], body=until)],
          arrays(n=np.array(3), go=np.array(False), x=X), ['y'])
    nothing = graph([node('Identity', ['c'], ['c2']), node('Mul', ['x', 'x'], ['s'])],
                    [('i', T.INT64, []), ('c', T.BOOL, [])], [('c2', T.BOOL), 's'])
    b.add('nothing carried', [node('Loop', ['n', 'go'], ['z'], body=nothing)], arrays(**scalars, x=X), ['z'])
    for name, dtype in b.dtypes('V').items():
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        same = graph([node('Identity', ['c'], ['c2']), node('Identity', ['v'], ['v2']), node('Identity', ['v'], ['s'])],
                     [('i', T.INT64, []), ('c', T.BOOL, []), ('v', kind)], [('c2', T.BOOL), ('v2', kind), ('s', kind)])
        b.add(f'V {name}', [node('Loop', ['n', 'go', 'x'], ['y', 'z'], body=same)],
              arrays(**scalars, x=np.abs(X).astype(dtype)), ['y', 'z'])
    grown = graph([node('Identity', ['c'], ['c2']), node('SequenceInsert', ['v', 'x'], ['v2'])],
                  [('i', T.INT64, []), ('c', T.BOOL, [])], [('c2', T.BOOL)])
    grown.input.append(helper.make_tensor_sequence_value_info('v', FLOAT, None))
    grown.output.append(helper.make_tensor_sequence_value_info('v2', FLOAT, None))
    b.add('a sequence', [node('SequenceEmpty', [], ['e']), node('Loop', ['n', 'go', 'e'], ['s'], body=grown),
                         node('ConcatFromSequence', ['s'], ['y'], axis=0)], arrays(**scalars, x=X), ['y'])


def scan_cases(b):
    body = graph([node('Add', ['s', 'e'], ['s2']), node('Mul', ['s', 'e'], ['r'])], ['s', 'e'], ['s2', 'r'])
    state = np.ones(3, np.float32)

    def add(label, outputs=('y', 'z'), inner=body, inputs=('h', 'x'), data=X, start=state, **attributes):
        b.add(label, [node('Scan', list(inputs), list(outputs), body=inner, **{'num_scan_inputs': 1, **attributes})],
              {k: v for k, v in arrays(h=start, x=data).items() if k in inputs}, [name for name in outputs if name])
    add('plain')
    add('only the stacked result', outputs=('', 'z'))
    add('reversed input', scan_input_directions=[1])
    add('reversed output', scan_output_directions=[1])
    add('forward by name', scan_input_directions=[0], scan_output_directions=[0])
    add('input axis', scan_input_axes=[1], data=X.T.copy())
    add('negative input axis', scan_input_axes=[-1], data=X.T.copy())
    add('output axis', scan_output_axes=[1])
    add('negative output axis', scan_output_axes=[-1])
    two = graph([node('Add', ['e', 'f'], ['r'])], ['e', 'f'], ['r'])
    add('no state, two inputs', outputs=('z',), inner=two, inputs=('x', 'x'), num_scan_inputs=2,
        scan_input_directions=[0, 1], scan_input_axes=[0, 0])
    for name, dtype in b.dtypes('V').items():
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        same = graph([node('Identity', ['s'], ['s2']), node('Identity', ['e'], ['r'])], [('s', kind), ('e', kind)],
                     [('s2', kind), ('r', kind)])
        add(f'V {name}', inner=same, data=np.abs(X).astype(dtype), start=state.astype(dtype))


def sequence(dtype=np.float32, shape=(2, 3)):
    parts = {f'p{i}': (np.arange(np.prod(shape)).reshape(shape) + i).astype(dtype) for i in range(3)}
    return [node('SequenceConstruct', list(parts), ['s'])], parts


def joined(name):
    return [node('ConcatFromSequence', [name], ['y'], axis=0)]


def sequence_cases(b):
    op, parts = b.schema.name, sequence()
    positions = {'first': 0, 'last': -1, 'front': -3, 'middle': 1}
    if op == 'SequenceConstruct':
        for count in (1, 2, 3):
            b.add(f'of {count}', [node(op, [f'p{i}' for i in range(count)], ['s']), *joined('s')],
                  {f'p{i}': X + i for i in range(count)}, ['y'])
        for name, dtype in b.dtypes('T').items():
            b.add(f'T {name}', [node(op, ['p0', 'p1'], ['s']), node('SequenceAt', ['s', 'i'], ['y'])],
                  arrays(p0=np.abs(X).astype(dtype), p1=X.astype(np.bool_).astype(dtype), i=np.array(1)), ['y'])
    elif op == 'SequenceEmpty':
        for label, kind, dtype in [('default', {}, np.float32)] + [
                (name, {'dtype': helper.np_dtype_to_tensor_dtype(np.dtype(dtype))}, dtype)
                for name, dtype in b.dtypes('S').items()]:
            b.add(f'dtype {label}', [node(op, [], ['e'], **kind), node('SequenceInsert', ['e', 'x'], ['s']),
                                     node('SequenceAt', ['s', 'i'], ['y'])],
                  arrays(x=np.abs(X).astype(dtype), i=np.array(0)), ['y'])
        b.add('its length', [node(op, [], ['e']), node('SequenceLength', ['e'], ['y'])], {}, ['y'])
    elif op == 'SequenceLength':
        b.add('plain', [*parts[0], node(op, ['s'], ['y'])], parts[1], ['y'])
    elif op in ('SequenceAt', 'SequenceErase', 'SequenceInsert'):
        tail = [] if op == 'SequenceAt' else joined('t')
        before = ['s', 'x'] if op == 'SequenceInsert' else ['s']
        more = {'x': X} if op == 'SequenceInsert' else {}
        for dtype in (np.int64, np.int32):
            for label, at in positions.items():
                b.add(f'{label} by {dtype.__name__}', [
                    *parts[0], node(op, [*before, 'i'], ['y' if not tail else 't']), *tail],
                    {**parts[1], **more, 'i': np.array(at, dtype)}, ['y'])
        if op != 'SequenceAt':
            b.add('without position', [*parts[0], node(op, before, ['t']), *tail], {**parts[1], **more}, ['y'])
            b.add('an empty name', [*parts[0], node(op, [*before, ''], ['t']), *tail], {**parts[1], **more}, ['y'])
        for name, dtype in b.dtypes('S').items():
            own = sequence(dtype)
            b.add(f'S {name}', [*own[0], node(op, [*before, 'i'], ['y' if not tail else 't']), *tail],
                  {**own[1], **{k: np.abs(v).astype(dtype) for k, v in more.items()}, 'i': np.array(1)}, ['y'])
    elif op == 'ConcatFromSequence':
        for axis, new in ((0, 0), (1, 0), (-1, 0), (-2, 0), (0, 1), (1, 1), (2, 1), (-1, 1), (-3, 1)):
            b.add(f'axis {axis}, new_axis {new}', [*parts[0], node(op, ['s'], ['y'], axis=axis, new_axis=new)],
                  parts[1], ['y'])
        b.add('new_axis by default', [*parts[0], node(op, ['s'], ['y'], axis=0)], parts[1], ['y'])
        for name, dtype in b.dtypes('S').items():
            own = sequence(dtype)
            b.add(f'S {name}', [*own[0], node(op, ['s'], ['y'], axis=1)], own[1], ['y'])
    elif op == 'SplitToSequence':
        data, at = np.arange(24, dtype=np.float32).reshape(2, 6, 2), np.array(1)

        def add(label, split=None, outputs=('y',), array=data, **attributes):
            inputs = {'x': array, 'i': at, **({} if split is None else {'k': np.asarray(split)})}
            b.add(label, [node(op, ['x', 'k'] if split is not None else ['x'], ['s'], **attributes),
                          node('SequenceAt', ['s', 'i'], ['y'])], inputs, list(outputs))
        add('plain')
        for axis in (0, 1, -1):
            add(f'axis {axis}', axis=axis)
        for keep in (0, 1):
            add(f'keepdims {keep}', axis=1, keepdims=keep)
        for dtype in b.dtypes('I').values():
            add(f'by {dtype.__name__}s', np.array([1, 3, 2], dtype), axis=1)
        add('by a scalar', np.array(4), axis=1)
        add('by a scalar, keepdims 0', np.array(4), axis=1, keepdims=0)
        b.add('an empty name', [node(op, ['x', ''], ['s']), node('SequenceAt', ['s', 'i'], ['y'])],
              {'x': data, 'i': at}, ['y'])
        for name, dtype in b.dtypes('T').items():
            if name != 'bfloat16':  # no operator takes a sequence of them apart
                add(f'T {name}', axis=1, array=data.astype(dtype))


BODIES = {'If': if_cases, 'Loop': loop_cases, 'Scan': scan_cases, **{name: sequence_cases for name in (
    'SequenceConstruct', 'SequenceEmpty', 'SequenceLength', 'SequenceAt', 'SequenceErase', 'SequenceInsert',
    'ConcatFromSequence', 'SplitToSequence')}}


def bodies(schema):
    collected = Bodies(schema)
    BODIES[schema.name](collected)
    return collected.cases
