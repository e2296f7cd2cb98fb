"""Every differentiable operator at 0, at its kinks, at ties and at the ends of its domain.

A case's `rule` is what PyTorch computes, an expression of x, y, z (the operands that train) and a, b, .. (those that do
not). `metadata` says what PyTorch's default exporter writes about the last node. Operators without a case stand in
REASONS: `run` asks the importer for its operators, and each must have the one or the other.
"""
import numpy as np

from cases import Case, spread

KINKS, SCRIPTED = {}, {}
INF = float('inf')
GRID = [-2., -1., -0.5, -0., 0., 0.5, 1., 2.]
WIDE = [-800., -30., -1., -0., 0., 1., 30., 800.]
TIES = [[1., 3, 3, 2, 3], [2., 2, 2, 2, 2], [-1., -3, -2, -3, -3], [0., -0., 0, -0., 0]]


def add(name, op, operands, rule, constants=(), into=None, call='', metadata=None, nodes=(), **attributes):
    case = Case(op, [np.array(o, np.float64) for o in operands], constants, nodes, [call] * len(nodes), **attributes)
    case.rule, case.metadata = rule, dict(metadata or {})
    if call:
        case.metadata['fx_node'] = call
    into = KINKS if into is None else into
    assert name not in into, name
    into[name] = case


def ints(*values):
    return np.array(values, np.int64)


def elementwise():
    """Functions of one number: `at` holds their kinks and ends."""
    ends = [-1., -0.5, -0., 0., 0.5, 1., 1.5]
    for op, rule, at in (
            ('Abs', 'abs', GRID), ('Acos', 'acos', ends), ('Acosh', 'acosh', [1., 1.5, 0.5]), ('Asin', 'asin', ends),
            ('Asinh', 'asinh', GRID), ('Atan', 'atan', WIDE), ('Atanh', 'atanh', [-1., -0.5, -0., 0., 0.5, 1.]),
            ('Ceil', 'ceil', GRID), ('Cos', 'cos', GRID), ('Cosh', 'cosh', GRID), ('Erf', 'erf', WIDE),
            ('Exp', 'exp', [-800., -1., -0., 0., 80.]), ('Floor', 'floor', GRID), ('Log', 'log', [0., 2. ** -99, 1., -1.]),
            ('Neg', 'neg', GRID), ('Reciprocal', 'reciprocal', [-0., 0., 2. ** -20, -1.]),
            ('Round', 'round', [-1.5, -0.5, -0., 0., 0.5, 1.5, 2.5]), ('Sigmoid', 'sigmoid', WIDE), ('Sign', 'sign', GRID),
            ('Sin', 'sin', GRID), ('Sinh', 'sinh', GRID), ('Sqrt', 'sqrt', [0., -0., 2. ** -40, 1., -1.]),
            ('Tan', 'tan', GRID), ('Tanh', 'tanh', WIDE), ('Relu', 'relu', GRID)):
        add(f'{op} at kinks and ends', op, [at], f'torch.{rule}(x)')
    for op, rule, at, attributes in (
            ('Celu', 'F.celu(x, 0.5)', WIDE, {'alpha': 0.5}), ('Elu', 'F.elu(x, 0.5)', WIDE, {'alpha': 0.5}),
            ('Gelu', 'F.gelu(x)', WIDE, {}), ('Gelu', "F.gelu(x, approximate='tanh')", WIDE, {'approximate': 'tanh'}),
            ('HardSigmoid', 'torch.clamp(x * 0.25 + 0.5, 0., 1.)', [-3., -2., -0., 0., 2., 3.], {'alpha': 0.25, 'beta': 0.5}),
            ('HardSwish', 'F.hardswish(x)', [-4., -3., -0., 0., 3., 4.], {}), ('Identity', 'x * 1', GRID, {}),
            ('LeakyRelu', 'F.leaky_relu(x, 0.25)', WIDE, {'alpha': 0.25}), ('Mish', 'F.mish(x)', WIDE, {}),
            ('Selu', 'F.selu(x)', WIDE, {}), ('Shrink', 'F.hardshrink(x, 0.5)', GRID, {'lambd': 0.5, 'bias': 0.}),
            ('Shrink', 'F.softshrink(x, 0.5)', GRID, {'lambd': 0.5, 'bias': 0.5}),
            ('Softplus', 'F.softplus(x, threshold=1e9)', [-700., -30., -1., -0., 0., 1., 19., 20., 21., 700.], {}),
            ('Softsign', 'F.softsign(x)', WIDE, {}), ('Swish', 'F.silu(x)', WIDE, {}),
            ('Swish', 'x * torch.sigmoid(0.5 * x)', WIDE, {'alpha': 0.5}),
            ('ThresholdedRelu', 'F.threshold(x, 1., 0.)', GRID, {'alpha': 1.}),
            ('Dropout', 'x * 1', GRID, {}), ('LRN', 'F.local_response_norm(x, 3, 0.5, 0.75, 1.)',
                                             [[[0., 1.], [0., -2.], [0., 0.], [3., 0.]]],
                                             {'size': 3, 'alpha': 0.5, 'beta': 0.75, 'bias': 1.})):
        add(f'{op} {attributes} at kinks and ends' if attributes else f'{op} at kinks and ends', op, [at], rule,
            **attributes)
    add('Cast of a float', 'Cast', [GRID], 'x * 1', to=1)
    add('CastLike of a float', 'CastLike', [GRID], 'x * 1', [np.zeros(1)])


def binary():
    a, b = np.repeat([-2., -0., 0., 2.], 4), np.tile([-2., -0., 0., 2.], 4)
    for op, rule in (('Add', 'x + y'), ('Sub', 'x - y'), ('Mul', 'x * y'), ('Div', 'x / y'),
                     ('Max', 'torch.maximum(x, y)'), ('Min', 'torch.minimum(x, y)'), ('Mean', '(x + y) / 2'),
                     ('Sum', 'x + y')):
        add(f'{op} at kinks and ends', op, [a, b], rule)
    add('Max of three ties', 'Max', [[2., 2, 1, 2], [2., 1, 2, 3], [2., 2, 2, 1]],
        'torch.maximum(torch.maximum(x, y), z)')
    add('Mod at multiples', 'Mod', [[4., -4, 0, 3, -3, 5], [2., 2, 2, -1.5, 1.5, 2]], 'torch.fmod(x, y)', fmod=1)
    add('PRelu at 0', 'PRelu', [GRID, [0.25]], 'F.prelu(x, y)')
    add('PRelu without a slope', 'PRelu', [GRID, [0.]], 'F.prelu(x, y)')
    for power in (0., 1., 2., 3., 4., 0.5, 1.5, -1., -0.5):
        at = [0., 0.5, 1., 4.] + ([-1.] if power == int(power) else [])
        add(f'Pow {power} at 0', 'Pow', [at], f'x ** {power}', [np.array(power)])
    add('Pow of two at 0 and 1', 'Pow', [[0., 0, 0, 0, 1, 2, 0, -1, 4], [0., 1, 2, 0.5, 0, 0, -1, 2, 0.5]], 'x ** y')
    add('Where beside a NaN', 'Where', [[-1., 0., 1., 4.]], 'torch.where(x > 0, torch.sqrt(x), 0.)',
        nodes=[('Greater', ['x0', 0.], 'c', {}), ('Sqrt', ['x0'], 'r', {}), ('Where', ['c', 'r', 0.], 'y', {})])
    add('Where with a guard', 'Where', [[-1., 0., 1., 4.]],
        'torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.)), 0.)',
        nodes=[('Greater', ['x0', 0.], 'c', {}), ('Where', ['c', 'x0', 1.], 's', {}), ('Sqrt', ['s'], 'r', {}),
               ('Where', ['c', 'r', 0.], 'y', {})])


def saturated():
    """Chains that PyTorch computes as one function."""
    at = [-800., -120., -0., 0., 120., 800.]
    add('log_sigmoid where sigmoid is 0', 'Log', [at], 'F.logsigmoid(x)',
        nodes=[('Sigmoid', ['x0'], 's', {}), ('Log', ['s'], 'y', {})])
    for target in (0., 1.):
        add(f'binary_cross_entropy of {target}, saturated', 'Max', [at],
            f'F.binary_cross_entropy(torch.sigmoid(x), torch.full_like(x, {target}), reduction="none")',
            nodes=[('Sigmoid', ['x0'], 'p', {}), ('Sub', [1., 'p'], 'q', {}), ('Log', ['p'], 'lp', {}),
                   ('Log', ['q'], 'lq', {}), ('Max', ['lp', -100.], 'mp', {}), ('Max', ['lq', -100.], 'mq', {}),
                   ('Mul', ['mp', -target], 'a', {}), ('Mul', ['mq', target - 1], 'b', {}), ('Add', ['a', 'b'], 'y', {})])


def reductions():
    zeros = [[0., 0, 2], [0., 1, 2], [3., 1, 2], [0., 0, 0]]
    axis = [ints(1)]
    for op, rule, at in (
            ('ReduceSum', 'x.sum(1)', TIES), ('ReduceMean', 'x.mean(1)', TIES), ('ReduceProd', 'x.prod(1)', zeros),
            ('ReduceL1', 'x.norm(1, 1)', TIES), ('ReduceL2', 'x.norm(2, 1)', TIES),
            ('ReduceSumSquare', '(x * x).sum(1)', TIES), ('ReduceLogSum', 'x.sum(1).log()', [[0., 0], [0., 1], [2., 2]]),
            ('ReduceLogSumExp', 'x.logsumexp(1)', [[0., 0], [800., 800], [-800., -800], [800., -800], [3., 3]]),
            ('ReduceMax', 'x.amax(1)', TIES), ('ReduceMin', 'x.amin(1)', TIES)):
        add(f'{op} at 0 and ties', op, [at], rule, axis, keepdims=0)
    add('CumSum at 0', 'CumSum', [TIES], 'x.cumsum(1)', [np.array(1)])
    add('CumProd at 0', 'CumProd', [zeros], 'x.cumprod(1)', [np.array(1)])
    for k in (1, 2, 4):
        for largest in (0, 1):
            add(f'TopK {k} of ties, largest {largest}', 'TopK', [TIES],
                f'x.sort(dim=1, descending={bool(largest)}, stable=True).values[:, :{k}]', [ints(k)], largest=largest)
    cube = spread((2, 3, 4), 40, 0, 2)
    axes = {'dim': [ints(1)], 'last': [ints(2)], 'two': [ints(1, 2)]}
    for extreme, op in (('max', 'ReduceMax'), ('min', 'ReduceMin')):
        def call(target, arguments):
            return f'aten.{target}(args = (%x, {arguments}), kwargs = {{}})'
        for where, d in (('first', 0), ('middle', 1), ('last', 2)):
            for keep in (0, 1):
                add(f'{extreme}(dim) of ties, {where} keep {keep}', op, [cube], f'x.{extreme}({d}, {bool(keep)}).values',
                    [ints(d)], call=call(f'{extreme}.dim', d), keepdims=keep)
        add(f'a{extreme} of ties', op, [cube], f'x.a{extreme}(1)', axes['dim'], call=call(f'a{extreme}.default', '[1]'), keepdims=0)
        add(f'{extreme} of all', op, [cube], f'x.{extreme}()', call=call(f'{extreme}.default', ''), keepdims=0)
        add(f'norm of infinite order, {extreme}', op, [cube - 1],
            f'torch.linalg.vector_norm(x, {"" if extreme == "max" else "-"}torch.inf, 1)', axes['dim'],
            call=call('linalg_vector_norm.default', 'inf'), keepdims=0,
            nodes=[('Abs', ['x0'], 'a', {}), (op, ['a', [1]], 'y', {'keepdims': 0})])
        # TorchScript names no calls: one axis is max(dim), several are amax, none is the maximum of all.
        add(f'{extreme}(dim) of TorchScript', op, [cube], f'x.{extreme}(1).values', axes['dim'], SCRIPTED, keepdims=0)
        add(f'a{extreme} of TorchScript', op, [cube], f'x.a{extreme}((1, 2))', axes['two'], SCRIPTED, keepdims=0)
        add(f'{extreme} of all by TorchScript', op, [cube], f'x.{extreme}()', (), SCRIPTED, keepdims=0)
    pooled = {'class_hierarchy': "['M', 'torch.nn.modules.pooling.AdaptiveMaxPool2d', 'aten.amax.default']"}
    traced = {'stack_trace': 'File "m.py", line 8, in forward\n    x = F.adaptive_max_pool2d(x, 1)\n'}
    image = spread((1, 2, 3, 4), 41, 0, 1)
    for how, metadata in (('a module', pooled), ('a function', traced)):
        add(f'adaptive_max_pool2d by {how}', 'ReduceMax', [image], 'F.adaptive_max_pool2d(x, 1)', [ints(-2, -1)],
            call='aten.amax.default(args = (%x, [-2, -1], True), kwargs = {})', metadata=metadata, keepdims=1)


def clamps():
    ends = [-2., -1., -0., 0., 1., 2., 3.]
    low, high = np.array(-1.), np.array(2.)

    def call(target, *arguments):
        return f'aten.{target}(args = ({", ".join(arguments)}), kwargs = {{}})'
    number, tensor = '%scalar_tensor_default_1', '%clone'
    tensors = 'torch.tensor(-1.), torch.tensor(2.)'
    for name, op, constants, rule, fx in (
            ('clamp', 'Clip', [low, high], 'x.clamp(-1, 2)', call('clamp.Tensor', '%x', number, number)),
            ('clamp by tensors', 'Clip', [low, high], f'x.clamp({tensors})', call('clamp.Tensor', '%x', tensor, tensor)),
            ('clamp with a least number', 'Max', [low], 'x.clamp(min=-1)', call('clamp.Tensor', '%x', number)),
            ('clamp with a greatest number', 'Min', [high], 'x.clamp(max=2)', call('clamp.Tensor', '%x', 'None', number)),
            ('clamp with a least tensor', 'Max', [low], 'x.clamp(min=torch.tensor(-1.))', call('clamp.Tensor', '%x', '%zeros')),
            ('clamp with a greatest tensor', 'Min', [high], 'x.clamp(max=torch.tensor(2.))',
             call('clamp.Tensor', '%x', 'None', '%zeros')),
            ('clamp_min at 0', 'Clip', [np.array(0.)], 'x.clamp_min(0)', call('clamp_min.Tensor', '%x', number)),
            ('clamp_min by a number', 'Clip', [np.array(0.)], 'x.clamp_min(0)', call('clamp_min.default', '%x', '0')),
            ('clamp_min by a tensor', 'Clip', [np.array(0.)], 'x.clamp_min(torch.tensor(0.))',
             call('clamp_min.Tensor', '%x', '%c')),
            ('hardtanh', 'Clip', [np.array(-1.), np.array(1.)], 'F.hardtanh(x)', call('hardtanh.default', '%x')),
            ('relu6', 'Clip', [np.array(0.), np.array(6.)], 'F.relu6(x)', call('relu6.default', '%x')),
            ('minimum of a maximum', 'Clip', [low, high], 'torch.minimum(torch.maximum(x, low), high)',
             call('minimum.default', '%maximum', '%c')),
            ('clamp of a maximum', 'Clip', [low, high], 'torch.maximum(x, low).clamp(max=2)',
             call('clamp.Tensor', '%maximum_3', 'None', number)),
            ('maximum of a clamp', 'Clip', [low, high], 'torch.maximum(x.clamp(max=2), low)',
             call('maximum.default', '%clamp_1', '%c')),
            ('clamp of a clamp', 'Clip', [low, high], 'x.clamp(min=-1).clamp(max=2)',
             call('clamp.Tensor', '%clamp', 'None', number)),
            ('relu of relu6', 'Clip', [np.array(0.), np.array(6.)], 'F.relu(F.relu6(x))', call('relu.default', '%relu6')),
            ('maximum with 0', 'Max', [np.array(0.)], 'torch.maximum(x, torch.tensor(0.))',
             call('maximum.default', '%x', '%c')),
            ('relu', 'Relu', [], 'F.relu(x)', call('relu.default', '%x'))):
        rule = rule.replace('low', 'torch.tensor(-1.)').replace('high', 'torch.tensor(2.)')
        add(f'{name} at its ends', op, [ends + [6., 7.]], rule, constants, call=fx)
    add('clamp of TorchScript', 'Clip', [ends], 'x.clamp(-1, 2)', [low, high], SCRIPTED)
    add('clamp of TorchScript by a number that is cast', 'Clip', [ends], 'x.clamp(min=0)', into=SCRIPTED,
        nodes=[('Cast', [0.], 'w', {'to': 11}), ('Cast', ['w'], 'b', {'to': 1}), ('Clip', ['x0', 'b'], 'y', {})])
    add('maximum of TorchScript', 'Max', [ends], 'torch.maximum(x, torch.tensor(0.))', [np.array(0.)], SCRIPTED)
    add('clamp_max by a parameter', 'Clip', [ends, 2.], 'torch.clamp_max(x, y)',
        nodes=[('Clip', ['x0', '', 'x1'], 'y', {})], call=call('clamp_max.Tensor', '%x', '%p_alpha'))
    add('clamp between parameters', 'Clip', [ends, -1., 2.], 'torch.clamp(x, y, z)')


def roots():
    """What TorchScript's exporter writes for norms and deviations."""
    rows = spread((4, 3), 42)
    rows[0] = rows[2] = 0
    last = {'keepdims': 0}
    add('std of TorchScript', 'Sqrt', [rows + 1], 'x.std(1)', into=SCRIPTED,
        nodes=[('ReduceMean', ['x0', [1]], 'm', {'keepdims': 1}), ('Sub', ['x0', 'm'], 'd', {}),
               ('Mul', ['d', 'd'], 'q', {}), ('ReduceMean', ['q', [1]], 'v', last), ('Mul', ['v', 3.], 'w', {}),
               ('Div', ['w', 2.], 'u', {}), ('Sqrt', ['u'], 'y', {})])
    add('norm of order 4 of TorchScript', 'Pow', [rows], 'x.norm(4, 1)', into=SCRIPTED,
        nodes=[('Abs', ['x0'], 'a', {}), ('Pow', ['a', 4.], 'q', {}), ('ReduceSum', ['q', [1]], 's', {'keepdims': 0}),
               ('Pow', ['s', 0.25], 'y', {})])
    add('pairwise_distance of TorchScript', 'Pow', [rows, rows], 'F.pairwise_distance(x, y, eps=0.)', into=SCRIPTED,
        nodes=[('Sub', ['x0', 'x1'], 'd', {}), ('Pow', ['d', 2.], 'q', {}), ('ReduceSum', ['q', [1]], 's', {'keepdims': 0}),
               ('Pow', ['s', 0.5], 'y', {})])
    add('matrix_norm of TorchScript', 'Sqrt', [np.zeros((2, 3))], 'torch.linalg.matrix_norm(x)', into=SCRIPTED,
        nodes=[('Mul', ['x0', 'x0'], 'q', {}), ('ReduceSum', ['q', [0, 1]], 's', {'keepdims': 0}), ('Sqrt', ['s'], 'y', {})])
    add('root of its own of TorchScript', 'Sqrt', [[0., 1.]], 'torch.sqrt(x)', into=SCRIPTED)


def rows():
    """Functions of whole rows: equal elements, elements far apart, and masked ones."""
    far = [[0., 0, 0], [800., 0, 800], [-800., -800, 0], [1., 2, 3]]
    mask = np.array([[0., -INF, 0], [-INF, -INF, 0], [0., 0, 0], [0., 0, -INF]])
    for op, rule in (('Softmax', 'softmax'), ('LogSoftmax', 'log_softmax')):
        add(f'{op} of ties and far elements', op, [far], f'F.{rule}(x, 1)', axis=1)
        masked = f'F.{rule}(x + a, 1)'
        add(f'{op} of masked elements', op, [far], masked if op == 'Softmax' else f'torch.where(a == 0, {masked}, 0.)',
            [mask], nodes=[('Add', ['x0', 'c0'], 'm', {}), (op, ['m'], 'y', {'axis': 1})] if op == 'Softmax' else
            [('Add', ['x0', 'c0'], 'm', {}), (op, ['m'], 'l', {'axis': 1}), ('Equal', ['c0', 0.], 'z', {}),
             ('Where', ['z', 'l', 0.], 'y', {})])
    labels = [ints(0, 1, 2, 2)]
    for reduction in ('none', 'mean', 'sum'):
        add(f'SoftmaxCrossEntropyLoss of far elements, {reduction}', 'SoftmaxCrossEntropyLoss', [far],
            f'F.cross_entropy(x, a, reduction="{reduction}")', labels, reduction=reduction)
        add(f'NegativeLogLikelihoodLoss, {reduction}', 'NegativeLogLikelihoodLoss', [far],
            f'F.nll_loss(x, a, reduction="{reduction}")', labels, reduction=reduction)
    flat = np.array([[2., 2, 2, 2], [0., 0, 0, 0], [1., -1, 1, -1]])
    ones = [np.ones(4), np.zeros(4)]
    add('LayerNormalization of equals', 'LayerNormalization', [flat, *ones], 'F.layer_norm(x, (4,), y, z, 0.25)',
        epsilon=0.25)
    add('RMSNormalization of 0', 'RMSNormalization', [flat, ones[0]], 'F.rms_norm(x, (4,), y, 0.25)', epsilon=0.25)
    image = np.zeros((2, 2, 2, 2))
    image[0, 0] = 3
    image[1, 1] = [[1, -1], [2, 0]]
    channels = [np.ones(2), np.zeros(2)]
    add('InstanceNormalization of equals', 'InstanceNormalization', [image, *channels],
        'F.instance_norm(x, weight=y, bias=z, eps=0.25)', epsilon=0.25)
    add('GroupNormalization of equals', 'GroupNormalization', [image, *channels], 'F.group_norm(x, 2, y, z, 0.25)',
        num_groups=2, epsilon=0.25)
    add('LpNormalization of order 1', 'LpNormalization', [[[0., 0, 2], [1., -1, 2]]], 'x / x.norm(1, 1, True)', p=1, axis=1)
    add('MeanVarianceNormalization of equals', 'MeanVarianceNormalization', [image],
        '(x - x.mean((0, 2, 3), True)) / (x.var((0, 2, 3), correction=0, keepdim=True) + 0).sqrt().add(1e-9)',
        axes=[0, 2, 3])


def windows():
    line = [[[1., 3, 3, 2, 3, 3, 0, 0]]]
    add('MaxPool of ties', 'MaxPool', [line], 'F.max_pool1d(x, 3, 1)', kernel_shape=[3])
    add('MaxPool of ties beside padding', 'MaxPool', [line], 'F.max_pool1d(x, 3, 2, 1)', kernel_shape=[3], strides=[2],
        pads=[1, 1])
    plane = spread((1, 2, 4, 4), 43, 0, 1)
    add('MaxPool of ties, 2 dimensions', 'MaxPool', [plane], 'F.max_pool2d(x, 2, 1)', kernel_shape=[2, 2])
    add('MaxPool of ties, dilated', 'MaxPool', [plane], 'F.max_pool2d(x, 2, 1, 0, 2)', kernel_shape=[2, 2], dilations=[2, 2])
    add('GlobalMaxPool of ties', 'GlobalMaxPool', [plane], 'F.adaptive_max_pool2d(x, 1)')
    add('AveragePool beside padding', 'AveragePool', [line], 'F.avg_pool1d(x, 3, 2, 1, count_include_pad=False)',
        kernel_shape=[3], strides=[2], pads=[1, 1])
    add('GlobalAveragePool', 'GlobalAveragePool', [plane], 'x.mean((2, 3), True)')
    add('LpPool of 0', 'LpPool', [[[[[0., 0, 0, 1, 2, 3]]]]], 'x.view(1, 1, 1, 2, 3).norm(2, 4)', kernel_shape=[1, 3],
        strides=[1, 3])
    add('GlobalLpPool of 0', 'GlobalLpPool', [[[[0., 0, 0]], [[0., 1, 2]]]], 'x.norm(3, 2, True)', p=3)
    for mode, name in (('reflect', 'reflect'), ('edge', 'replicate'), ('wrap', 'circular')):
        add(f'Pad {mode}', 'Pad', [plane], f"F.pad(x, (2, 1, 1, 2), '{name}')", [ints(0, 0, 1, 2, 0, 0, 2, 1)], mode=mode)
    add('Pad constant', 'Pad', [plane], 'F.pad(x, (2, 1, 1, 2))', [ints(0, 0, 1, 2, 0, 0, 2, 1)])
    scales = np.array([1, 1, 2, 2.])
    for mode, rule, attributes in (
            ('nearest', "'nearest'", {'coordinate_transformation_mode': 'asymmetric', 'nearest_mode': 'floor'}),
            ('linear', "'bilinear', align_corners=False", {}),
            ('linear', "'bilinear', align_corners=True", {'coordinate_transformation_mode': 'align_corners'}),
            ('cubic', "'bicubic', align_corners=False", {'cubic_coeff_a': -0.75})):
        add(f'Resize {mode} at its borders {attributes}', 'Resize', [plane], f'F.interpolate(x, scale_factor=2, mode={rule})',
            nodes=[('Resize', ['x0', '', list(scales)], 'y', {'mode': mode, **attributes})])


def indexed():
    table = spread((3, 4), 44)
    add('Gather of one row twice', 'Gather', [table], 'x[a]', [ints(2, 0, 2, 2)])
    add('GatherElements of one element twice', 'GatherElements', [table], 'x.gather(1, a)',
        [np.array([[0, 0, 3], [1, 1, 1], [3, 2, 3]])], axis=1)
    add('GatherND of one element twice', 'GatherND', [table], 'x[a[:, 0], a[:, 1]]', [np.array([[0, 1], [2, 3], [0, 1]])])
    base, updates = [[1., 2, 3], [0., 0, 0]], [[1., 1, 3, 3], [0., -1, 0, 0]]
    at = [np.array([[0, 0, 2, 2], [1, 1, 1, 2]])]
    for reduction, rule in (('add', 'sum'), ('max', 'amax'), ('min', 'amin')):
        add(f'ScatterElements {reduction} of ties', 'ScatterElements', [base, updates],
            f"x.scatter_reduce(1, a, y, '{rule}')", nodes=[('ScatterElements', ['x0', 'c0', 'x1'], 'y',
                                                            {'axis': 1, 'reduction': reduction})], constants=at)
        add(f'ScatterND {reduction} of ties', 'ScatterND', [[1., 2, 3], [1., 1, 3, 3]],
            f"x.scatter_reduce(0, a[:, 0], y, '{rule}')", nodes=[('ScatterND', ['x0', 'c0', 'x1'], 'y',
                                                                  {'reduction': reduction})],
            constants=[np.array([[0], [0], [2], [2]])])
    add('ScatterElements that replaces', 'ScatterElements', [base, [[5., 0], [0., 5]]], 'x.scatter(1, a, y)',
        nodes=[('ScatterElements', ['x0', 'c0', 'x1'], 'y', {'axis': 1})], constants=[np.array([[0, 2], [1, 2]])])


def recurrent():
    """A cell of one unit and one step is its activation of what it reads: each activation at its kinks."""
    activations = {'Relu': ('F.relu({})', {}), 'Tanh': ('torch.tanh({})', {}), 'Sigmoid': ('torch.sigmoid({})', {}),
                   'Softsign': ('F.softsign({})', {}), 'Softplus': ('F.softplus({})', {}),
                   'Affine': ('({} * 0.5 + 0.25)', {'activation_alpha': [0.5], 'activation_beta': [0.25]}),
                   'LeakyRelu': ('F.leaky_relu({}, 0.25)', {'activation_alpha': [0.25]}),
                   'ThresholdedRelu': ('torch.where({0} >= 1, {0}, 0.)', {'activation_alpha': [1.]}),
                   'ScaledTanh': ('0.5 * torch.tanh(2 * {})', {'activation_alpha': [0.5], 'activation_beta': [2.]}),
                   'HardSigmoid': ('torch.clamp({} * 0.25 + 0.5, 0., 1.)', {'activation_alpha': [0.25], 'activation_beta': [0.5]}),
                   'Elu': ('F.elu({}, 0.5)', {'activation_alpha': [0.5]})}
    x, one = np.array(GRID).reshape(1, -1, 1), np.ones((1, 1, 1))
    for name, (rule, attributes) in activations.items():
        add(f'RNN with {name} at its kinks', 'RNN', [x, one, 0 * one],
            rule.format('(x * y + 0 * z)') + '.view(1, 1, 8, 1)', hidden_size=1,
            activations=[name], **attributes)
    gates = np.array([1., 0, 0, 1]).reshape(1, 4, 1)
    # Gates i, o, f, c: i and c read x, o is f(0), and f meets a cell of 0.
    add('LSTM with HardSigmoid and Relu at their kinks', 'LSTM', [x, gates],
        '(torch.clamp(x * y[0, 1] * 0.25 + 0.5, 0., 1.) * F.relu(torch.clamp(x * y[0, 0] * 0.25 + 0.5, 0., 1.) * '
        'F.relu(x * y[0, 3]) + 0 * y[0, 2])).view(1, 1, 8, 1)', [np.zeros((1, 4, 1))], hidden_size=1,
        activations=['HardSigmoid', 'Relu', 'Relu'], activation_alpha=[0.25], activation_beta=[0.5])
    # Gates z, r, h: z and h read x, and r meets a state of 0.
    add('GRU with HardSigmoid and Relu at their kinks', 'GRU', [x, np.array([1., 0, 1]).reshape(1, 3, 1)],
        '((1 - torch.clamp(x * y[0, 0] * 0.25 + 0.5, 0., 1.)) * F.relu(x * y[0, 2]) + 0 * y[0, 1]).view(1, 1, 8, 1)',
        [np.zeros((1, 3, 1))], hidden_size=1, activations=['HardSigmoid', 'Relu'], activation_alpha=[0.25],
        activation_beta=[0.5])


for part in (elementwise, binary, saturated, reductions, clamps, roots, rows, windows, indexed, recurrent):
    part()

# Why an operator needs no case. Which have no floating-point result, ONNX's schemas say themselves.
REASONS = {
    'a polynomial of its operands': 'Conv ConvTranspose Einsum Gemm MatMul RotaryEmbedding',
    'moves, repeats or leaves out elements': 'CenterCropPad Concat DepthToSpace Expand Flatten Reshape Slice SpaceToDepth '
                                             'OneHot Split Squeeze Tile Transpose Trilu Unsqueeze',
    'reads no float, or only its shape': 'Constant ConstantOfShape EyeLike Range',
    'draws, and passes no gradient': 'Bernoulli RandomNormal RandomNormalLike RandomUniform RandomUniformLike',
    'gives other operators their order': 'ConcatFromSequence If Loop Scan SequenceAt SequenceConstruct SequenceEmpty '
                                         'SequenceErase SequenceInsert SplitToSequence',
    'one where its operand is largest, without a gradient': 'Hardmax',
    'has cases of its own in attention.py': 'Attention',
    'trains with the statistics of the batch, as test/interp compares': 'BatchNormalization',
}
