"""Values at which an operator's rule has to choose: ties, NaN, the ends of a range.

A case is an ONNX operator, its attributes, operands that train, operands that do not, and the weights of the result in the
loss, all small dyadic numbers: sums of them are exact in f32.
"""
import numpy as np

NAN = float('nan')


def spread(shape, seed, low=-3, high=3):
    """Whole numbers with many ties."""
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(np.float64)


class Case:
    """`nodes`: what the operator is written as, (operator, inputs, result, attributes), from operands x0, x1, .. to y;
    `calls`: the PyTorch call of each node, as PyTorch's exporter names it in the node's metadata."""

    def __init__(self, op, operands, constants=(), nodes=(), calls=(), **attributes):
        self.op, self.operands, self.constants, self.attributes = op, operands, constants, attributes
        self.nodes, self.calls = nodes, calls
        self.rule, self.metadata = None, {}

    def operators(self):
        return {op for op, *_ in self.nodes} | {self.op}

    def has_nan(self):
        return any(np.isnan(o).any() for o in self.operands)


def reductions(shape, seed):
    """All ways in which a reduction runs: along rows, across them, to one number."""
    axes = [None, *([d] for d in range(len(shape)))]
    if len(shape) > 2:
        axes += [[0, 2], [1, 2]]
    for op in ('ReduceMax', 'ReduceMin'):
        for a in axes:
            for keep in (0, 1):
                yield f'{op} {shape} {a} keep {keep}', Case(
                    op, [spread(shape, seed)], keepdims=keep, **({} if a is None else {'axes': a}))


def with_nan(shape, at, seed=3):
    out = spread(shape, seed)
    out.reshape(-1)[at] = NAN
    return out


def norms():
    """Rows, columns and windows that are all 0, beside others; roots that a norm or a deviation is written with."""
    rows = spread((5, 6), 20)
    rows[1] = rows[4] = 0
    for axes in ([1], [0], [0, 1]):
        for keep in (0, 1):
            yield f'ReduceL2 with rows of 0, {axes} keep {keep}', Case('ReduceL2', [rows], axes=axes, keepdims=keep)
    yield 'ReduceL2 of 0', Case('ReduceL2', [np.zeros((3, 4))], axes=[0, 1], keepdims=0)
    image = spread((2, 3, 4, 6), 21)
    image[0, 1] = image[1, :, :2] = 0
    for p in (2, 3):
        yield f'LpPool of 0, p {p}', Case('LpPool', [np.abs(image)], p=p, kernel_shape=[2, 3], strides=[2, 3])
        yield f'GlobalLpPool of 0, p {p}', Case('GlobalLpPool', [np.abs(image)], p=p)
    for p in (1, 2):
        yield f'LpNormalization with rows of 0, p {p}', Case('LpNormalization', [rows], axis=1, p=p)
    last = {'axes': [1], 'keepdims': 1}
    squares = [('ReduceSumSquare', ['x0'], 's', last), ('Sqrt', ['s'], 'y', {})]
    yield 'vector_norm as a root, rows of 0', Case('vector_norm', [rows], nodes=squares,
                                                   calls=['aten.linalg_vector_norm.default'] * 2, p=2)
    yield 'vector_norm of order 4, rows of 0', Case(
        'vector_norm', [rows], nodes=[('Abs', ['x0'], 'a', {}), ('Pow', ['a', 4.], 'q', {}),
                                      ('ReduceSum', ['q', [1]], 's', {}), ('Pow', ['s', 0.25], 'y', {})],
        calls=['aten.linalg_vector_norm.default'] * 4, p=4)
    constant = spread((4, 8), 22)
    constant[2] = 3
    deviation = [('ReduceMean', ['x0'], 'm', last), ('Sub', ['x0', 'm'], 'd', {}), ('Mul', ['d', 'd'], 'q', {}),
                 ('ReduceMean', ['q'], 'v', last), ('Sqrt', ['v'], 'y', {})]
    for call, root in (('aten.std.correction', 'aten.std.correction'), ('prims.var.default', 'aten.sqrt.default')):
        yield f'deviation of equals by {root}', Case('std', [constant], nodes=deviation, calls=[call] * 4 + [root])


def make():
    cases = {}
    a, b, c = spread((5, 7), 0), spread((5, 7), 1), spread((5, 7), 2)
    zero = np.array([0., -0., 0., -0., 1.])
    negative = np.array([-0., 0., 0., -0., 1.])
    for op in ('Max', 'Min'):
        cases[f'{op} of two'] = Case(op, [a, b])
        cases[f'{op} of three'] = Case(op, [a, b, c])
        cases[f'{op} with itself'] = Case(op, [a, a.copy()])
        cases[f'{op} of a row'] = Case(op, [a, spread((7,), 4)])
        cases[f'{op} of zeros'] = Case(op, [zero, negative])
        for side in (0, 1):
            operands = [a, b]
            operands[side] = with_nan((5, 7), 11)
            cases[f'{op} with NaN in operand {side}'] = Case(op, operands)
    for shape, seed in (((4, 6), 5), ((3, 4, 5), 6), ((2, 67), 7), ((67, 3), 8), ((9,), 9)):
        cases.update(reductions(shape, seed))
    for op in ('ReduceMax', 'ReduceMin'):
        cases[f'{op} of equals'] = Case(op, [np.full((3, 8), 2.)], axes=[1], keepdims=0)
        for shape, axes, size in (((2, 37), [1], 37), ((37, 2), [0], 2), ((3, 5, 4), [0, 2], 4), ((41,), [0], 41)):
            for at in (0, size // 2, size - 1):
                cases[f'{op} {shape} {axes} with NaN at {at}'] = Case(op, [with_nan(shape, at)], axes=axes,
                                                                      keepdims=0)
    cases['Relu at 0'] = Case('Relu', [spread((11,), 10, -1, 1)])
    cases['Abs at 0'] = Case('Abs', [spread((11,), 11, -1, 1)])
    cases['HardSigmoid at its ends'] = Case('HardSigmoid', [spread((23,), 13, -8, 8)], alpha=0.125, beta=0.5)
    cases['HardSwish at its ends'] = Case('HardSwish', [spread((23,), 14, -4, 4)])
    halves = spread((23,), 15, -6, 6) / 2
    for alpha in (1., 0.5, 2.):
        cases[f'Elu at 0, alpha {alpha}'] = Case('Elu', [halves], alpha=alpha)
        cases[f'Celu at 0, alpha {alpha}'] = Case('Celu', [halves], alpha=alpha)
    cases['Selu at 0'] = Case('Selu', [halves])
    cases['LeakyRelu at 0'] = Case('LeakyRelu', [halves], alpha=0.25)
    cases['ThresholdedRelu at its threshold'] = Case('ThresholdedRelu', [halves], alpha=1.)
    cases['Shrink at its ends'] = Case('Shrink', [halves], lambd=0.5, bias=0.5)
    cases.update(norms())
    cases['Clip at its ends'] = Case('Clip', [spread((23,), 12)], [np.array(-1.), np.array(2.)])
    return cases


CASES = make()
