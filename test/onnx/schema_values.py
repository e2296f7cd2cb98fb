"""Values for the generated forms of operators that compute element by element, reduce, normalise or multiply; those that
move elements are in schema_layouts.py. See Operator in schema_forms.py."""
import numpy as np
from onnx import TensorProto as T

from schema_forms import OMITTED, Operator, V, numbers

FLOATS = ('float', 'double', 'float16', 'bfloat16')
ALL_TYPES = (T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16, T.BOOL, T.INT8, T.INT16, T.INT32, T.INT64, T.UINT8, T.UINT16,
             T.UINT32, T.UINT64)


def between(low, high, *shape):
    """Numbers in [low, high)."""
    return lambda rng, dtype: rng.uniform(low, high, shape)


def whole(low, high, *shape):
    return lambda rng, dtype: rng.integers(low, high, shape)


def nonzero(*shape):
    def draw(rng, dtype):
        values = numbers(rng, dtype, shape)
        return np.where(values == 0, np.asarray(2).astype(values.dtype), values)
    return draw


def special(*shape):
    """Numbers with an infinity of either sign and a NaN."""
    def draw(rng, dtype):
        values = rng.standard_normal(shape)
        values.flat[:4] = np.inf, -np.inf, np.nan, 0
        return values
    return draw


def distinct(*shape):
    """No number twice: the order of equal ones is no matter then."""
    return lambda rng, dtype: rng.permutation(np.prod(shape)).reshape(shape) - (
        np.prod(shape) // 2 if np.dtype(dtype).kind != 'u' else 0)


OPERATORS = {}


def unary(names, spec=(2, 3, 4), ranks=((), (1,), (2, 1, 3, 1, 2)), of=lambda *shape: shape, **more):
    """Operators of one input; `of` makes the spec from a shape."""
    for name in names.split():
        OPERATORS[name] = Operator({0: of(*spec)}, variants=[{0: of(*shape)} for shape in ranks], **more)


unary('Abs Neg Floor Ceil Sigmoid Sign Relu Mish Softplus')
unary('Exp Erf Tanh Sin Cos Tan Atan Sinh Cosh Asinh Softsign')
unary('Not Round BitwiseNot HardSwish Swish Gelu')
unary('Log Sqrt Reciprocal', of=lambda *shape: between(0.2, 3, *shape))
unary('Acos Asin Atanh', of=lambda *shape: between(-0.95, 0.95, *shape))
unary('Acosh', of=lambda *shape: between(1.1, 4, *shape))
unary('IsNaN')
unary('IsInf', attrs={'detect_negative': [0, V(0, attrs={'detect_positive': 0}, X=special(2, 4))],
                                           'detect_positive': [0, V(1, X=special(2, 4))]})
for each in ('IsNaN', 'IsInf'):
    OPERATORS[each].inputs = {0: special(2, 3)}
unary('LeakyRelu Elu Celu ThresholdedRelu', attrs={'alpha': [0.3, 2.0]})
unary('Selu', attrs={'alpha': [1.2], 'gamma': [2.0]})
unary('HardSigmoid', attrs={'alpha': [0.5], 'beta': [0.1]})
unary('Shrink', attrs={'bias': [0.25], 'lambd': [0.1, V(0.3, attrs={'bias': 0.1})]})
OPERATORS['Swish'].attrs = {'alpha': [0.5]}
OPERATORS['Gelu'].attrs = {'approximate': ['tanh', 'none']}
for each in ('Softmax', 'LogSoftmax', 'Hardmax'):
    unary(each, ranks=((3,), (2, 1, 3, 1, 2)), attrs={'axis': [0, 1, -2]})

BROADCAST = [((3, 1), (2, 1, 4)), ((), (2, 3)), ((2, 3), ()), ((5,), (5,)), ((1,), (2, 2)), ((2, 1, 3, 1), (4, 1, 2))]


def binary(names, of=lambda *shape: shape, first=None, pairs=BROADCAST, **more):
    first = first or of
    for name in names.split():
        OPERATORS[name] = Operator({0: first(2, 3, 4), 1: of(2, 3, 4)},
                                   variants=[{0: first(*x), 1: of(*y)} for x, y in pairs], **more)


binary('Add Sub Mul And Or Xor BitwiseAnd BitwiseOr BitwiseXor Less LessOrEqual Greater GreaterOrEqual Equal')
# A quotient of whole numbers is cut off, of -8 by -1 in 8 bits it is not one.
binary('Div', of=nonzero)
binary('Mod', of=nonzero, types={'T': ['int64', 'int32', 'int16', 'int8', 'uint8', 'uint16', 'uint32', 'uint64']},
       attrs={'fmod': [1, 0]})
binary('PRelu', pairs=[((2, 3, 4), (3, 1)), ((2, 3), (1,)), ((3, 2), ())])
binary('Pow', of=lambda *shape: whole(0, 4, *shape), first=nonzero)
OPERATORS['Pow'].variants += [{0: between(0.2, 3, 2, 3), 1: np.array(value)} for value in (0.5, 1.0, 2.0, 3.0, -1.5)]
binary('BitShift', of=lambda *shape: whole(0, 4, *shape), first=lambda *shape: whole(0, 9, *shape),
       always={'direction': 'LEFT'}, attrs={'direction': ['LEFT', 'RIGHT']})
for each in ('Max', 'Min', 'Sum', 'Mean'):
    OPERATORS[each] = Operator({'data_0': [(2, 3), (2, 3)]}, variants=[
        {'data_0': specs} for specs in ([(2, 3)], [(2, 3), (3,), (4, 1, 1)], [()], [(), (2,)], [(2, 1), (1, 3), (), (1,)])])
OPERATORS['Where'] = Operator({'condition': (2, 3, 4), 'X': (2, 3, 4), 'Y': (2, 3, 4)}, variants=[
    {'condition': c, 'X': x, 'Y': y} for c, x, y in [((3, 1), (2, 1, 4), (4,)), ((), (2,), (1,)), ((2, 2), (), ())]])
OPERATORS['Clip'] = Operator({'input': (2, 3, 4), 'min': np.array(1), 'max': np.array(3)},
                             variants=[{'input': (), 'min': np.array(0)}, {'input': (3,), 'min': np.array(3),
                                                                            'max': np.array(1)}])
OPERATORS['Cast'] = Operator({'input': between(0, 5, 2, 3)}, always={'to': T.FLOAT}, attrs={
    'to': [V(kind, input=spec) for kind in ALL_TYPES for spec in (between(-3, 3, 2, 3), )
           if kind not in (T.UINT8, T.UINT16, T.UINT32, T.UINT64)] + [
               V(kind, input=between(0, 5, 2, 3)) for kind in ALL_TYPES],
    'saturate': [V(0, attrs={'to': T.INT32})], 'round_mode': ['down', 'nearest']})
OPERATORS['CastLike'] = Operator({'input': between(0, 5, 2, 3), 'target_type': (1,)},
                                 attrs={'saturate': [0], 'round_mode': ['down', 'nearest']})

REDUCE = {'keepdims': [0, V(0, attrs={'axes': [1]}, until=12), V(0, axes=np.array([1]), since=13)],
          'noop_with_empty_axes': [1, V(1, axes=np.array([], np.int64)), V(1, axes=np.array([0]))],
          'axes': [[1], [-1, 0], [0, 1, 2], V([1], attrs={'keepdims': 0})]}
for each in ('Sum', 'Mean', 'Max', 'Min', 'Prod', 'L1', 'L2', 'LogSum', 'LogSumExp', 'SumSquare'):
    data = (lambda *shape: between(0.5, 2, *shape)) if each == 'LogSum' else (lambda *shape: shape)
    OPERATORS['Reduce' + each] = Operator(
        {'data': data(2, 3, 4), 'axes': np.array([1])}, attrs=REDUCE,
        variants=[{'data': data()}, {'data': data(3)}, {'data': data(2, 1, 3, 1, 2)}] + [
            {'axes': np.array(axes), 'since': 18 if each != 'Sum' else 13} for axes in ([-1, 0], [0, 1, 2], [-2])])
for each in ('ArgMax', 'ArgMin'):
    OPERATORS[each] = Operator({'data': whole(0, 4, 3, 4, 2)}, attrs={
        'axis': [1, -1], 'keepdims': [0], 'select_last_index': [1]}, variants=[{'data': whole(0, 4, 5)}])
for each in ('CumSum', 'CumProd'):
    OPERATORS[each] = Operator({'x': (2, 3, 4), 'axis': np.array(1)}, attrs={
        'exclusive': [1], 'reverse': [1, V(1, attrs={'exclusive': 1})]}, variants=[
            {'x': (5,), 'axis': np.array(0)}, {'axis': np.array(-1)}, {'axis': np.array(-3)}])

CHANNELS = {'X': (2, 4, 3, 2), 'scale': (4,), 'bias': (4,)}
OPERATORS['BatchNormalization'] = Operator(
    {**CHANNELS, 'B': (4,), 'mean': (4,), 'var': between(0.5, 2, 4), 'input_mean': (4,), 'input_var': between(0.5, 2, 4)},
    attrs={'epsilon': [0.1], 'momentum': [V(0.7, outputs=5, until=13), V(0.7, attrs={'training_mode': 1}, outputs=3,
                                                                        since=14)],
           'training_mode': [V(1, outputs=3), 0]}, results=1,
    variants=[{'outputs': 5, 'until': 13}, {'X': (5, 4)}, {'X': (2, 4, 3)}, {'X': (2, 4, 2, 3, 2)},
              {'X': (5, 4), 'outputs': 5, 'until': 13},
              {'X': (5,), 'scale': (1,), 'B': (1,), 'mean': (1,), 'var': between(0.5, 2, 1), 'until': 13},
              {'X': (5,), 'scale': (1,), 'B': (1,), 'mean': (1,), 'var': between(0.5, 2, 1), 'outputs': 5, 'until': 13},
              {'X': (5,), 'scale': (1,), 'B': (1,), 'input_mean': (1,), 'input_var': between(0.5, 2, 1), 'since': 14}])
OPERATORS['InstanceNormalization'] = Operator({'input': (2, 4, 3, 2), 'scale': (4,), 'B': (4,)}, attrs={
    'epsilon': [0.1]}, variants=[{'input': (2, 4, 5)}, {'input': (2, 4, 2, 3, 2)}])
OPERATORS['GroupNormalization'] = Operator(CHANNELS, always={'num_groups': 2}, attrs={
    'num_groups': [1, 4], 'epsilon': [0.1], 'stash_type': [V(T.FLOAT), V(T.DOUBLE)]}, variants=[{'X': (2, 4, 5)}])
OPERATORS['LayerNormalization'] = Operator({'X': (2, 3, 4), 'Scale': (4,), 'B': (4,)}, attrs={
    'axis': [-1, V(1, Scale=(3, 4)), V(-2, Scale=(3, 4), B=(3, 4)), V(0, Scale=(2, 3, 4)), V(2, Scale=(1,))],
    'epsilon': [0.1], 'stash_type': [T.FLOAT, T.DOUBLE]}, variants=[{'X': (4,)}, {'X': (2, 4)}])
OPERATORS['RMSNormalization'] = Operator({'X': (2, 3, 4), 'scale': (4,)}, attrs={
    'axis': [-1, V(1, scale=(3, 4)), V(0, scale=(2, 3, 4))], 'epsilon': [0.1], 'stash_type': [T.FLOAT, T.DOUBLE]},
    variants=[{'X': (4,)}, {'X': (2, 4)}], tied={'T': ['V'], 'V': ['T']})
OPERATORS['MeanVarianceNormalization'] = Operator({'X': (2, 3, 4, 2)}, attrs={'axes': [[0, 2], [1], [-1, 0], [0, 1, 2, 3]]})
OPERATORS['LpNormalization'] = Operator({'input': nonzero(2, 3, 4)}, attrs={'axis': [0, 1, -2], 'p': [1, 2]},
                                        variants=[{'input': nonzero(4)}])
OPERATORS['LRN'] = Operator({'X': (2, 5, 3, 2)}, always={'size': 3}, attrs={
    'size': [1, 2, 5], 'alpha': [0.5], 'beta': [0.5], 'bias': [2.0]}, variants=[{'X': (2, 5, 3)}, {'X': (2, 5, 3, 2, 2)}])

OPERATORS['MatMul'] = Operator({'A': (2, 3, 4), 'B': (2, 4, 5)}, variants=[
    {'A': a, 'B': b} for a, b in [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)), ((2, 3, 4), (4, 5)),
                                  ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))]])
OPERATORS['Gemm'] = Operator({'A': (3, 4), 'B': (4, 5), 'C': (5,)}, attrs={
    'alpha': [0.5, V(0.5, C=(5,))], 'beta': [0.5, V(2.0, C=(3, 5))], 'transA': [V(1, A=(4, 3)), V(1, A=(4, 3), C=(5,))],
    'transB': [V(1, B=(5, 4)), V(1, A=(4, 3), B=(5, 4), attrs={'transA': 1})]},
    variants=[{'C': shape} for shape in ((), (1,), (3, 1), (1, 5), (1, 1), (3, 5))])
OPERATORS['Einsum'] = Operator({'Inputs': [(2, 3), (3, 4)]}, always={'equation': 'ij,jk->ik'}, attrs={'equation': [
    V(equation, Inputs=shapes) for equation, shapes in [
        ('ij->ji', [(2, 3)]), ('ij->', [(2, 3)]), ('ij->i', [(2, 3)]), ('ij,jk', [(2, 3), (3, 4)]),
        ('bij,bjk->bik', [(2, 3, 4), (2, 4, 5)]), ('...ij,...jk->...ik', [(2, 3, 4), (2, 4, 5)]), ('i,j->ij', [(2,), (3,)]),
        ('i,i', [(4,), (4,)]), ('bhqd,bhkd->bhqk', [(2, 2, 3, 4), (2, 2, 5, 4)]), ('...', [(2, 3)]),
        (' ij , jk -> ik ', [(2, 3), (3, 4)]), ('ij,jk,kl->il', [(2, 3), (3, 4), (4, 2)]), ('ba', [(2, 3)]),
        ('...i,i->...', [(2, 3, 4), (4,)]), ('Ab,bC->AC', [(2, 3), (3, 4)]), ('ii->i', [(3, 3)]), ('ii', [(3, 3)]),
        ('...ii->...i', [(2, 3, 3)]), ('iji,j->i', [(3, 2, 3), (2,)])]]})

ROTARY = {'X': (2, 4, 3, 8), 'cos_cache': (6, 4), 'sin_cache': (6, 4), 'position_ids': whole(0, 6, 2, 3)}
WHOLE = {'cos_cache': (2, 3, 4), 'sin_cache': (2, 3, 4)}
OPERATORS['RotaryEmbedding'] = Operator(ROTARY, attrs={
    'interleaved': [1, V(1, position_ids=OMITTED, **WHOLE)],
    'num_heads': [V(4, X=(2, 3, 32)), V(2, X=(2, 3, 16))],
    'rotary_embedding_dim': [V(4, cos_cache=(6, 2), sin_cache=(6, 2)),
                             V(4, X=(2, 3, 32), attrs={'num_heads': 4, 'interleaved': 1}, cos_cache=(6, 2),
                               sin_cache=(6, 2))]},
    variants=[{'position_ids': OMITTED, **WHOLE}], fits=lambda given, attrs, version: 'position_ids' in given)

HEADS = {'Q': (2, 4, 3, 8), 'K': (2, 2, 5, 8), 'V': (2, 2, 5, 6)}
PACKED = {'Q': (2, 3, 32), 'K': (2, 5, 16), 'V': (2, 5, 12)}
PAST = {'past_key': (2, 2, 4, 8), 'past_value': (2, 2, 4, 6)}
SEVERAL = {'q_num_heads': 4, 'kv_num_heads': 2}


def attention(given, attrs, version):
    """Past keys and values come together, and not with a number of keys in use."""
    return (('past_key' in given) == ('past_value' in given) and not {'past_key', 'nonpad_kv_seqlen'} <= given
            and not {'past_key', 'attn_mask'} <= given)


OPERATORS['Attention'] = Operator(
    {**HEADS, 'attn_mask': (3, 5), **PAST, 'nonpad_kv_seqlen': np.array([3, 5])}, fits=attention, attrs={
        'is_causal': [1, V(1, attn_mask=(3, 5)), V(1, **PAST), V(1, nonpad_kv_seqlen=np.array([5, 3]), since=24),
                      V(1, nonpad_kv_seqlen=np.array([2, 1]), since=24)],
        'scale': [0.5], 'softcap': [2.0, V(2.0, attn_mask=(3, 5))],
        'qk_matmul_output_mode': [V(mode, outputs=[True, False, False, True], attn_mask=(3, 5),
                                    attrs={'softcap': 2.0}) for mode in (0, 1, 2, 3)],
        'softmax_precision': [T.FLOAT, T.DOUBLE],
        'q_num_heads': [V(4, attrs=SEVERAL, **PACKED), V(4, attrs=SEVERAL, **PACKED, attn_mask=(3, 5))],
        'kv_num_heads': [V(2, attrs=SEVERAL, **PACKED, outputs=[True, True, True, False], **PAST),
                         V(4, attrs={'q_num_heads': 4}, Q=(2, 3, 32), K=(2, 5, 32), V=(2, 5, 24))]},
    variants=[{'attn_mask': shape} for shape in ((2, 4, 3, 5), (2, 1, 3, 5), (4, 3, 5), (1, 5), (1, 1, 1, 5), (3, 3))]
    + [{'attn_mask': (3, 9), **PAST}, {'attn_mask': (2, 4, 3, 9), **PAST, 'attrs': {'is_causal': 1}},
       {'Q': (2, 4, 3, 8), 'K': (2, 4, 5, 8), 'V': (2, 4, 5, 8)}])
