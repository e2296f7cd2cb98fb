"""Results by the operator's specification, for cases in which onnx.reference contradicts it. Each says how."""
import copy

import numpy as np
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def attributes(case):
    return {each.name: helper.get_attribute_value(each) for each in case.nodes[0].attribute}


def batch_norm(case):
    """onnx.reference's version 9 gives one result, and divides by the running statistics instead of the batch's; its
    later versions do not take samples of one channel."""
    node, attrs = case.nodes[0], attributes(case)
    x, scale, bias, mean, var = (case.arrays[name].astype(np.float64) for name in node.input)
    wide = x.reshape(-1, 1) if x.ndim == 1 else x
    momentum, epsilon = attrs.get('momentum', np.float32(0.9)), attrs.get('epsilon', np.float32(1e-5))
    trains = len(node.output) > 1 if case.version < 14 else attrs.get('training_mode', 0)
    axes = tuple(i for i in range(wide.ndim) if i != 1)
    own_mean, own_var = wide.mean(axes), wide.var(axes)
    used_mean, used_var = (own_mean, own_var) if trains else (mean, var)

    def spread(vector):
        return vector.reshape(-1, *[1] * (wide.ndim - 2))
    y = (wide - spread(used_mean)) / np.sqrt(spread(used_var) + epsilon) * spread(scale) + spread(bias)
    results = [y.reshape(x.shape), mean * momentum + own_mean * (1 - momentum), var * momentum + own_var * (1 - momentum),
               own_mean, own_var]
    types = [case.arrays[node.input[0]].dtype] + [case.arrays[node.input[3]].dtype] * 4
    return [result.astype(dtype) for result, dtype, name in zip(results, types, node.output) if name]


def activation(name, alpha, beta):
    with_default = {'LeakyRelu': (0.01, None), 'ThresholdedRelu': (1.0, None), 'Elu': (1.0, None),
                    'HardSigmoid': (0.2, 0.5), 'Affine': (1.0, 0.0), 'ScaledTanh': (1.0, 0.0)}
    usual = with_default.get(name, (None, None))
    a = (alpha.pop(0) if alpha else usual[0]) if usual[0] is not None else None
    b = (beta.pop(0) if beta else usual[1]) if usual[1] is not None else None
    return {'Sigmoid': lambda x: 1 / (1 + np.exp(-x)), 'Tanh': np.tanh, 'Relu': lambda x: np.maximum(x, 0),
            'Affine': lambda x: a * x + b, 'LeakyRelu': lambda x: np.where(x >= 0, x, a * x),
            'ThresholdedRelu': lambda x: np.where(x >= a, x, 0), 'ScaledTanh': lambda x: a * np.tanh(b * x),
            'HardSigmoid': lambda x: np.clip(a * x + b, 0, 1), 'Elu': lambda x: np.where(x >= 0, x, a * (np.exp(x) - 1)),
            'Softsign': lambda x: x / (1 + np.abs(x)), 'Softplus': lambda x: np.log(1 + np.exp(x))}[name]


def recurrent(case):
    """onnx.reference lacks directions, lengths of sequences, clip, input_forget and Y_c, and computes wrongly with
    layout 1 and without an initial state; onnxruntime lacks layout 1. Computed here for all cases; where
    onnxruntime runs a case it agrees (test/onnx/README.md)."""
    attrs, node = attributes(case), case.nodes[0]
    names = ['X', 'W', 'R', 'B', 'sequence_lens', 'initial_h', 'initial_c', 'P']
    given = {name: case.arrays[name].astype(np.float64) for name in names if name in node.input}
    swapped = bool(attrs.get('layout', 0))
    x = given['X'].swapaxes(0, 1) if swapped else given['X']
    steps, batch, _ = x.shape
    directions, _, hidden = given['R'].shape
    gates, kinds = {'LSTM': (4, 'Sigmoid Tanh Tanh'), 'GRU': (3, 'Sigmoid Tanh'), 'RNN': (1, 'Tanh')}[case.op]
    kinds = [each.decode() for each in attrs.get('activations', [])] or kinds.split() * directions
    alpha, beta = list(attrs.get('activation_alpha', [])), list(attrs.get('activation_beta', []))
    functions = [activation(kind, alpha, beta) for kind in kinds]
    clip, per = attrs.get('clip', 0), len(kinds) // directions

    def state(name):
        if name not in given:
            return np.zeros((directions, batch, hidden))
        return given[name].swapaxes(0, 1) if swapped else given[name]
    lengths = given.get('sequence_lens', np.full(batch, steps))
    bias = given.get('B', np.zeros((directions, 2 * gates * hidden)))
    ys, hs, cs = np.zeros((steps, directions, batch, hidden)), [], []
    for d in range(directions):
        f = [lambda v, g=g: g(np.clip(v, -clip, clip) if clip else v) for g in functions[d * per:(d + 1) * per]]
        h, c = state('initial_h')[d], state('initial_c')[d]
        w, r = given['W'][d], given['R'][d]
        wb, rb = bias[d][:gates * hidden], bias[d][gates * hidden:]
        p = given['P'][d] if 'P' in given else np.zeros(3 * hidden)
        backwards = attrs.get('direction', b'forward') == b'reverse' or d == 1
        for t in reversed(range(steps)) if backwards else range(steps):
            i = np.split(x[t] @ w.T + wb, gates, 1)
            o = np.split(h @ r.T + rb, gates, 1)
            if case.op == 'LSTM':
                into = f[0](i[0] + o[0] + p[:hidden] * c)
                forget = 1 - into if attrs.get('input_forget', 0) else f[0](i[2] + o[2] + p[2 * hidden:] * c)
                new_c = forget * c + into * f[1](i[3] + o[3])
                # Clipping is of what goes into the gates; onnxruntime clips no cell state either.
                new_h = f[0](i[1] + o[1] + p[hidden:2 * hidden] * new_c) * functions[d * per + 2](new_c)
            elif case.op == 'GRU':
                z, reset = f[0](i[0] + o[0]), f[0](i[1] + o[1])
                if attrs.get('linear_before_reset', 0):
                    new_h = f[1](i[2] + reset * o[2])
                else:
                    new_h = f[1](i[2] + (reset * h) @ r[2 * hidden:].T + rb[2 * hidden:])
                new_h, new_c = (1 - z) * new_h + z * h, c
            else:
                new_h, new_c = f[0](i[0] + o[0]), c
            alive = (t < lengths)[:, None]
            ys[t, d] = np.where(alive, new_h, 0)
            h, c = np.where(alive, new_h, h), np.where(alive, new_c, c)
        hs.append(h)
        cs.append(c)
    results = [ys, np.stack(hs), np.stack(cs)]
    if swapped:
        results = [ys.transpose(2, 0, 1, 3), results[1].swapaxes(0, 1), results[2].swapaxes(0, 1)]
    return [array.astype(case.arrays['X'].dtype) for array, name in zip(results, node.output) if name]


def global_lp_pool(case):
    """onnx.reference has none."""
    (x,) = case.arrays.values()
    p = attributes(case).get('p', 2)
    total = (np.abs(x.astype(np.float64)) ** p).sum(tuple(range(2, x.ndim)), keepdims=True)
    return [(total ** (1 / p)).astype(x.dtype)]


def local_response(case):
    """onnx.reference and onnxruntime take images of two dimensions only."""
    (x,), attrs = case.arrays.values(), attributes(case)
    size, squares = attrs['size'], x.astype(np.float64) ** 2
    channels = x.shape[1]
    sums = np.stack([squares[:, max(0, i - (size - 1) // 2):min(channels, i + size // 2 + 1)].sum(1)
                     for i in range(channels)], 1)
    scale = attrs.get('bias', 1.0) + attrs.get('alpha', 1e-4) / size * sums
    return [(x / scale ** attrs.get('beta', 0.75)).astype(x.dtype)]


def cast_like(case):
    """onnx.reference does not know attribute round_mode, which is about one type of 8 bits only."""
    if 'round_mode' not in attributes(case):
        return None
    return [case.arrays['input'].astype(case.arrays['target_type'].dtype)]


def one_hot(case):
    """onnx.reference and onnxruntime lack results of BOOL."""
    node, attrs = case.nodes[0], attributes(case)
    indices, depth, values = (case.arrays[name] for name in node.input)
    if values.dtype != np.bool_:
        return None
    hit = np.asarray(indices)[..., None] % int(depth) == np.arange(int(depth))
    return [np.moveaxis(np.where(hit, values[1], values[0]), -1, attrs.get('axis', -1))]


def reduce_log(case):
    """onnx.reference takes no logarithm of integers; the results of a variant without dimensions are no arrays."""
    data, attrs = case.arrays['data'], attributes(case)
    if data.dtype.kind not in 'iu' and data.ndim:
        return None
    wide = data.astype(np.float64)
    total = (np.exp(wide) if case.op == 'ReduceLogSumExp' else wide).sum(keepdims=bool(attrs.get('keepdims', 1)))
    return [np.asarray(np.log(total)).astype(data.dtype)]


def mean_variance(case):
    """The function of the schema adds a FLOAT to the input's type, which fails for the others."""
    (x,), attrs = case.arrays.values(), attributes(case)
    axes, wide = tuple(attrs.get('axes', (0, 2, 3))), x.astype(np.float64)
    return [((wide - wide.mean(axes, keepdims=True)) / (wide.std(axes, keepdims=True) + 1e-9)).astype(x.dtype)]


def attention(case):
    """With a number of keys in use onnx.reference adds masks that do not broadcast. is_causal counts from the last of
    these keys; a row that sees none is 0 (errata of ONNX 1.23)."""
    given = attributes(case)
    if 'nonpad_kv_seqlen' not in case.arrays or not given.get('is_causal', 0) or len(case.arrays) > 4:
        return None
    q, k, v = (case.arrays[name].astype(np.float64) for name in ('Q', 'K', 'V'))
    k, v = (np.repeat(each, q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3])
    row, column = np.indices(scores.shape[2:])
    visible = column <= row + case.arrays['nonpad_kv_seqlen'][:, None, None, None] - scores.shape[2]
    weights = np.where(visible, np.exp(scores), 0)
    sums = weights.sum(3, keepdims=True)
    return [(weights / np.where(sums == 0, 1, sums) @ v).astype(np.float32)]


def loop(case):
    """onnx.reference takes no condition for a false one, and joins what it must stack; onnxruntime crashes where a
    result is not asked for."""
    case = copy.deepcopy(case)
    node = next(each for each in case.nodes if each.op_type == 'Loop')
    if not node.input[1]:
        node.input[1], case.arrays['always'] = 'always', np.array(True)
    with np.errstate(all='ignore'):
        results = ReferenceEvaluator(case.model()).run(None, {
            name: array for name, array in case.arrays.items() if name not in case.constants()})
    return [array.reshape(-1, *case.arrays['x'].shape) if name == 'z' else array
            for name, array in zip(case.outputs, results)]


def constant(case):
    """Neither evaluates a Constant of a sparse tensor."""
    sparse = attributes(case).get('sparse_value')
    if sparse is None:
        return None
    values, indices = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    dense = np.zeros(list(sparse.dims), values.dtype)
    dense[tuple(np.atleast_2d(indices.T if indices.ndim > 1 else indices))] = values
    return [dense]


FORMULAS = {'BatchNormalization': batch_norm, 'LSTM': recurrent, 'GRU': recurrent, 'RNN': recurrent,
            'GlobalLpPool': global_lp_pool, 'LRN': local_response, 'CastLike': cast_like, 'OneHot': one_hot,
            'ReduceLogSum': reduce_log, 'ReduceLogSumExp': reduce_log, 'MeanVarianceNormalization': mean_variance,
            'Constant': constant, 'Loop': loop, 'Attention': attention}
