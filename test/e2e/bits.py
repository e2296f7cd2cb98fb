"""Programs that compare what was computed twice: the gradient of a maximum looks for the operands that are equal to
it, so a value that is computed again in another kernel, or at another place of one, must have the bits it had.

A program is an `onnx.ModelProto` whose output `loss` is a number, with trained parameters and one input `x` of 6
samples. FAMILIES are chains of multiplications and additions, as models have them, that invite contraction and
short sums that invite computing again; PICKERS choose elements of what a chain makes by comparing; `random_program`
joins such ops at random.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH, ROWS, WIDTH = 6, 3, 8


class Program:
    """A graph under construction: each method adds a node and returns its output's name."""

    def __init__(self, seed, dtype):
        self.random, self.dtype = np.random.default_rng(seed), np.dtype(dtype)
        self.nodes, self.initializers, self.count = [], [], 0

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f'{kind.lower()}{self.count + i}' for i in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def tensor(self, value, name=None, dtype=None):
        if name is None:
            name = f'constant{len(self.initializers)}'
        array = np.asarray(value, self.dtype if dtype is None else dtype)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def parameter(self, *shape, low=-1., high=1.):
        """Trained: its name begins with `w`."""
        return self.tensor(self.random.uniform(low, high, shape), f'w{len(self.initializers)}')

    def ints(self, *values):
        return self.tensor(values, dtype=np.int64)

    def slice(self, value, begin, end, axis=-1):
        return self.op('Slice', value, self.ints(begin), self.ints(end), self.ints(axis))

    def linear(self, value='x'):
        return self.op('MatMul', value, self.parameter(WIDTH, WIDTH))

    def loss(self, picked):
        """A square of means: the gradient depends on all elements, so it is computed when the kernels that made
        them are done, and chains in it are computed again."""
        terms = [self.op('ReduceMean', self.op('Tanh', one), keepdims=0) for one in picked]
        while len(terms) > 1:
            terms.append(self.op('Add', terms.pop(0), terms.pop(0)))
        return self.op('Mul', terms[0], terms[0])

    def model(self, loss):
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.nodes.append(helper.make_node('Identity', [loss], ['loss'], name='loss'))
        graph = helper.make_graph(
            self.nodes, 'bits', [helper.make_tensor_value_info('x', kind, [BATCH, ROWS, WIDTH])],
            [helper.make_tensor_value_info('loss', kind, [])], self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9)


# What a family gives has shape [BATCH, ROWS, WIDTH].

def two_products(p):
    return p.op('Add', p.op('Mul', p.op('Tanh', 'x'), p.parameter(WIDTH)), p.op('Mul', 'x', p.parameter(WIDTH)))


def interpolation(p):
    h, g, s = p.linear(), p.op('Tanh', 'x'), p.op('Sigmoid', p.parameter(WIDTH))
    return p.op('Add', p.op('Mul', h, s), p.op('Mul', g, p.op('Sub', p.tensor(1), s)))


def gated_mix(p):
    gate = p.op('Sigmoid', p.op('Mul', 'x', p.parameter(WIDTH)))
    return p.op('Add', p.op('Mul', gate, p.linear()),
                p.op('Mul', p.op('Sub', p.tensor(1), gate), p.op('Mul', 'x', p.parameter(ROWS, 1))))


def rotary(p):
    h, half = p.linear(), WIDTH // 2
    angle = p.random.uniform(0, 6, (ROWS, half))
    cosine, sine = (p.tensor(np.concatenate([f(angle)] * 2, -1)) for f in (np.cos, np.sin))
    turned = p.op('Concat', p.op('Neg', p.slice(h, half, WIDTH)), p.slice(h, 0, half), axis=-1)
    return p.op('Add', p.op('Mul', h, cosine), p.op('Mul', turned, sine))


def absolute_maximum(p):
    h = p.op('Add', p.op('Mul', 'x', p.parameter(WIDTH)), p.op('Mul', p.linear(), p.parameter(WIDTH)))
    return p.op('Div', h, p.op('ReduceMax', p.op('Abs', h), p.ints(-1), keepdims=1))


def recurrent_cell(p):
    z, n, h = p.op('Sigmoid', p.linear()), p.op('Tanh', p.linear()), p.op('Mul', 'x', p.parameter(WIDTH))
    return p.op('Add', p.op('Mul', p.op('Sub', p.tensor(1), z), n), p.op('Mul', z, h))


def turned_slices(p):
    h, half = p.linear(), WIDTH // 2
    r = p.op('Concat', p.slice(h, half, WIDTH), p.slice(h, 0, half), axis=-1)
    return p.op('Add', p.op('Mul', h, p.parameter(WIDTH)), p.op('Mul', r, p.parameter(WIDTH)))


def roots_and_powers(p):
    root = p.op('Sqrt', p.op('Add', p.op('Abs', p.linear()), p.tensor(0.1)))
    power = p.op('Exp', p.op('Mul', 'x', p.parameter(WIDTH)))
    return p.op('Add', p.op('Mul', root, p.parameter(WIDTH)), p.op('Mul', power, p.parameter(WIDTH)))


def short_sums(p):
    """Sums of three products, one for each element of a row: each is read by eight elements."""
    products = p.op('Mul', 'x', p.parameter(WIDTH))
    total = p.op('ReduceSum', p.op('Mul', products, p.op('Tanh', 'x')), p.ints(1), keepdims=1)
    small = p.op('MatMul', p.op('Transpose', 'x', perm=[0, 2, 1]), p.parameter(ROWS, ROWS))
    return p.op('Add', p.op('Mul', total, products), p.op('Transpose', small, perm=[0, 2, 1]))


def normalised(p):
    centred = p.op('Sub', p.linear(), p.op('ReduceMean', 'x', p.ints(-1), keepdims=1))
    variance = p.op('ReduceMean', p.op('Mul', centred, centred), p.ints(-1), keepdims=1)
    scale = p.op('Reciprocal', p.op('Sqrt', p.op('Add', variance, p.tensor(1e-5))))
    return p.op('Add', p.op('Mul', p.op('Mul', centred, scale), p.parameter(WIDTH)), p.parameter(WIDTH))


FAMILIES = {f.__name__.replace('_', ' '): f for f in (
    two_products, interpolation, gated_mix, rotary, absolute_maximum, recurrent_cell, turned_slices,
    roots_and_powers, short_sums, normalised)}


# Each picker makes a few numbers of what a family gives, and of `x`.

def largest(p, y):
    return p.op('ReduceMax', y, p.ints(1), keepdims=0)


def smallest(p, y):
    return p.op('ReduceMin', y, p.ints(-1), keepdims=0)


def pooled(p, y):
    return p.op('MaxPool', y, kernel_shape=[2], strides=[2])


def maximum(p, y):
    """The elements of y that are the maximum of y and x, found by comparing."""
    both = p.op('Max', y, 'x')
    return p.op('Where', p.op('Equal', both, y), both, p.tensor(0))


def minimum(p, y):
    both = p.op('Min', y, 'x')
    return p.op('Where', p.op('Greater', y, both), p.tensor(0), both)


def clipped(p, y):
    inside = p.op('Clip', y, p.tensor(-0.5), p.tensor(0.5))
    return p.op('Where', p.op('Equal', inside, y), p.op('Mul', y, y), inside)


def positive(p, y):
    """The elements of y that the smallest of their row does not cut off."""
    return p.op('Relu', p.op('Sub', y, p.op('ReduceMin', y, p.ints(-1), keepdims=1)))


PICKERS = {f.__name__: f for f in (largest, smallest, pooled, maximum, minimum, clipped, positive)}


def program(family, picker, dtype):
    p = Program(sum(map(ord, family + picker)), dtype)
    return p.model(p.loss([PICKERS[picker](p, FAMILIES[family](p))]))


def random_program(seed, dtype):
    """Elementwise ops, row sums and pickers over values of one shape, at random."""
    p = Program(seed, dtype)
    choose = p.random.choice
    values = ['x', p.linear(), p.op('Tanh', 'x')]
    unary = ['Tanh', 'Sigmoid', 'Abs', 'Neg', 'Sin', 'Softplus', 'Relu']
    picked = []
    for _ in range(int(p.random.integers(6, 16))):
        kind = choose(['unary', 'product', 'sum', 'difference', 'row', 'turn', 'compare', 'pick'],
                      p=[.12, .24, .24, .08, .08, .08, .08, .08])
        a, b = choose(values[-6:]), choose(values)
        if kind == 'unary':
            values.append(p.op(choose(unary), a))
        elif kind == 'product':
            values.append(p.op('Mul', a, p.parameter(WIDTH) if p.random.random() < .6 else b))
        elif kind in ('sum', 'difference'):
            values.append(p.op('Add' if kind == 'sum' else 'Sub', a, b))
        elif kind == 'row':
            reduce = choose(['ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceSum'])
            values.append(p.op('Sub', b, p.op(reduce, a, p.ints(int(choose([1, 2]))), keepdims=1)))
        elif kind == 'turn':
            values.append(p.op('Concat', p.slice(a, WIDTH // 2, WIDTH), p.slice(a, 0, WIDTH // 2), axis=-1))
        elif kind == 'compare':
            values.append(p.op('Where', p.op('Greater', a, b), p.op(choose(['Max', 'Min']), a, b), a))
        else:
            picked.append(PICKERS[choose(list(PICKERS))](p, a))
    last = p.op('Mul', values[-1], p.parameter(WIDTH))
    picked.append(PICKERS[choose(list(PICKERS))](p, p.op('Add', last, p.op('Mul', values[-2], p.parameter(WIDTH)))))
    return p.model(p.loss(picked))


def data(seed, dtype):
    """Two batches."""
    random = np.random.default_rng(seed)
    return {'x': random.normal(size=(2 * BATCH, ROWS, WIDTH)).astype(dtype)}


def save(model, path):
    onnx.checker.check_model(model)
    onnx.save(model, path)
