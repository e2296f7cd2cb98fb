"""Values for the generated forms of operators that move elements, index, or slide windows, of recurrent ones, and of
those that draw or make values. See Operator in schema_forms.py."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from schema_forms import OMITTED, TYPES, Operator, V
from schema_values import ALL_TYPES, OPERATORS, between, distinct, whole

I64 = np.int64


def ints(*values):
    return np.array(values, I64)


def tensor(dtype, values):
    return numpy_helper.from_array(np.asarray(values).astype(dtype), 'value')


OPERATORS['Identity'] = OPERATORS['Shape'] = OPERATORS['Size'] = Operator({0: (2, 3, 4)}, variants=[{0: ()}, {0: (1,)}],
                                                                          attrs={
    'start': [1, -1, -9, 9, V(1, attrs={'end': -1})], 'end': [2, -1, -9, 9]})
OPERATORS['Reshape'] = Operator({'data': (2, 3, 4), 'shape': ints(4, 6)}, attrs={
    'allowzero': [1, V(1, shape=ints(2, -1))]}, variants=[{'shape': ints(*shape)} for shape in (
        (-1,), (0, -1), (2, 0, 4), (24,), (1, 2, 3, 4), (-1, 2, 1))] + [
            {'data': (1,), 'shape': ints()}, {'data': (), 'shape': ints(1, 1)}])
OPERATORS['Flatten'] = Operator({'input': (2, 3, 4, 2)}, attrs={'axis': [0, 1, 4, -1, -4]}, variants=[{'input': (3,)}])
OPERATORS['Transpose'] = Operator({'data': (2, 3, 4)}, attrs={'perm': [[1, 0, 2], [0, 1, 2], [2, 0, 1]]},
                                  variants=[{'data': ()}, {'data': (3,)}])
OPERATORS['Squeeze'] = Operator({'data': (1, 3, 1, 2), 'axes': ints(0)}, variants=[
    {'axes': ints(*axes)} for axes in ((-2,), (0, 2), (2, -4))] + [{'data': (1, 1)}])
OPERATORS['Unsqueeze'] = Operator({'data': (3, 2), 'axes': ints(0)}, variants=[
    {'axes': ints(*axes)} for axes in ((-1,), (0, 2), (3, 0), (-1, 1))] + [{'data': (), 'axes': ints(0)}])
OPERATORS['Expand'] = Operator({'input': (3, 1), 'shape': ints(2, 3, 4)}, variants=[
    {'shape': ints(*shape)} for shape in ((3, 4), (1,), (3, 1), (1, 1, 4))] + [{'input': (), 'shape': ints(2, 2)}])
OPERATORS['Tile'] = Operator({'input': (2, 3), 'repeats': ints(2, 3)}, variants=[
    {'repeats': ints(1, 2)}, {'repeats': ints(1, 1)}, {'input': (3,), 'repeats': ints(4)}])
OPERATORS['Trilu'] = Operator({'input': (2, 3, 4), 'k': np.array(1)}, attrs={'upper': [0, 1, V(0, k=np.array(-1))]},
                              variants=[{'input': (4, 3)}, {'k': np.array(-2)}, {'k': np.array(9)}, {'k': np.array(-9)}])
OPERATORS['Concat'] = Operator({'inputs': [(2, 3), (2, 3)]}, always={'axis': 0}, attrs={
    'axis': [0, V(1, inputs=[(2, 3), (2, 1), (2, 4)]), V(-1, inputs=[(2, 3), (2, 2)]), V(-2, inputs=[(2, 3), (1, 3)])]},
    variants=[{'inputs': [(2, 3)]}, {'inputs': [(3,), (1,)]}])
OPERATORS['Split'] = Operator({'input': (4, 6), 'split': ints(1, 3)}, results=2, attrs={
    'axis': [V(1, split=ints(2, 4)), V(-1, split=ints(2, 4)), V(0, split=ints(3, 1))],
    'num_outputs': [V(2, split=OMITTED), V(3, split=OMITTED, outputs=3, attrs={'axis': 1}),
                    V(3, split=OMITTED, outputs=3, input=(7, 2)), V(4, split=OMITTED, outputs=4, attrs={'axis': -1},
                                                                    input=(2, 10)),
                    V(1, split=OMITTED, outputs=1)]},
    variants=[{'split': ints(1, 2, 1), 'outputs': 3}, {'split': ints(4), 'outputs': 1}],
    # Since version 18 either says how.
    fits=lambda given, attrs, version: version < 18 or 'split' in given or 'num_outputs' in attrs)
OPERATORS['Slice'] = Operator(
    {'data': (4, 6, 3), 'starts': ints(1, 0), 'ends': ints(3, 4), 'axes': ints(0, 1), 'steps': ints(1, 2)},
    variants=[{'starts': ints(*s), 'ends': ints(*e), 'axes': ints(*a), 'steps': ints(*t)} for s, e, a, t in [
        ((-3,), (-1,), (1,), (1,)), ((0,), (99,), (-1,), (2,)), ((-1,), (-99,), (0,), (-1,)), ((5,), (0,), (1,), (-2,)),
        ((1, 0, 2), (4, 6, 3), (2, 1, 0), (1, 1, 1)), ((99,), (0,), (1,), (-3,)), ((0,), (2 ** 62,), (1,), (5,))]])
OPERATORS['Pad'] = Operator(
    {'data': (3, 4), 'pads': ints(1, 0, 0, 2), 'constant_value': np.array(2), 'axes': ints(0, 1)},
    attrs={'mode': ['constant', 'reflect', 'edge', V('wrap', since=19), V('reflect', pads=ints(2, 1, 1, 3)),
                    V('edge', pads=ints(0, 3, 4, 0)), V('wrap', pads=ints(2, 3, 1, 0), since=19),
                    V('edge', pads=ints(-1, 2, 1, -1)), V('reflect', pads=ints(1, -1, 0, 2))]},
    variants=[{'pads': ints(-1, 1, 0, -2)}, {'pads': ints(0, 0, 0, 0)}, {'data': (3,), 'pads': ints(2, 1)},
              {'pads': ints(2, 1), 'axes': ints(1), 'constant_value': np.array(1), 'since': 18},
              {'pads': ints(2, 1, 0, 3), 'axes': ints(-1, 0), 'constant_value': np.array(1), 'since': 18}])
OPERATORS['CenterCropPad'] = Operator({'input_data': (5, 4, 3), 'shape': ints(3, 6, 3)}, attrs={
    'axes': [V([1], shape=ints(7)), V([-1, 0], shape=ints(2, 8))]}, variants=[{'shape': ints(6, 3, 4)}])
OPERATORS['DepthToSpace'] = Operator({'input': (2, 8, 2, 3)}, always={'blocksize': 2}, attrs={
    'blocksize': [1, 2], 'mode': ['DCR', 'CRD']})
OPERATORS['SpaceToDepth'] = Operator({'input': (2, 3, 4, 6)}, always={'blocksize': 2}, attrs={'blocksize': [1, 2]})

OPERATORS['Gather'] = Operator({'data': (3, 4, 2), 'indices': whole(0, 2, 2, 3)}, attrs={
    'axis': [0, 1, -1, V(1, indices=ints(3, 2, 1)), V(-2, indices=np.array(-1))]}, variants=[
        {'indices': np.array(1)}, {'indices': ints(-1, -3, 0)}, {'data': (5,), 'indices': ints(4, 0)},
        {'indices': ints(0, 1)}, {'indices': ints(0, 2)}])
OPERATORS['GatherElements'] = Operator({'data': (3, 4), 'indices': whole(0, 3, 2, 4)}, attrs={
    'axis': [0, V(1, indices=whole(0, 4, 3, 6)), V(-1, indices=whole(-4, 4, 3, 2)), V(-2, indices=whole(-3, 3, 5, 3))]})
OPERATORS['GatherND'] = Operator({'data': (2, 3, 4), 'indices': whole(0, 2, 5, 2)}, attrs={
    'batch_dims': [0, V(1, indices=whole(0, 3, 2, 3, 1)), V(1, indices=whole(-3, 0, 2, 2)),
                   V(2, indices=whole(0, 4, 2, 3, 1))]},
    variants=[{'indices': whole(0, 2, 3, 3)}, {'indices': whole(-2, 2, 2, 2, 1)}, {'indices': ints(1, 2)}])
REDUCTIONS = {'reduction': ['none', 'add', 'mul', V('max', since=18), V('min', since=18)]}
OPERATORS['ScatterElements'] = Operator(
    {'data': (3, 4), 'indices': ints([0, 2, 1, 0], [2, 0, 0, 1]).reshape(2, 4), 'updates': (2, 4)},
    attrs={'axis': [0, V(1, indices=ints([3, 0], [1, 2], [0, 3]), updates=(3, 2)),
                    V(-1, indices=ints([-1, 0], [1, -2], [0, 3]), updates=(3, 2)),
                    V(-2, indices=ints([0, 2, 1, -3]), updates=(1, 4))],
           'reduction': REDUCTIONS['reduction'] + [V('add', since=16, indices=ints([1, 1, 1, 1], [1, 1, 1, 1]))]})
OPERATORS['ScatterND'] = Operator({'data': (4, 3), 'indices': ints([0], [2]), 'updates': (2, 3)}, attrs={
    'reduction': REDUCTIONS['reduction'] + [V('add', since=16, indices=ints([1], [1]))]}, variants=[
        {'indices': ints([0, 1], [3, 2], [-1, -3]), 'updates': (3,)}, {'indices': ints([-1]), 'updates': (1, 3)}])
def top_k(case, results):
    """Without `sorted` any order will do."""
    if not any(each.name == 'sorted' and each.i == 0 for each in case.nodes[0].attribute):
        return None
    values, indices = results
    if not np.array_equal(np.sort(values, 1), np.sort(case.results[0], 1)):
        return f'gives {values.ravel()[:8]}, expected {case.results[0].ravel()[:8]} in some order'
    found = np.take_along_axis(case.arrays['X'], indices, 1)
    return '' if np.array_equal(found, values) else 'has indices that are not of its values'


OPERATORS['TopK'] = Operator({'X': distinct(3, 5), 'K': ints(2)}, attrs={
    'axis': [-1, V(0, K=ints(3)), V(-2)], 'largest': [0], 'sorted': [V(0, K=ints(5), attrs={'axis': 1}), 1]}, check=top_k,
    variants=[{'X': distinct(6), 'K': ints(6)}, {'X': whole(0, 3, 4, 6), 'K': ints(4)}])
OPERATORS['OneHot'] = Operator({'indices': whole(0, 4, 2, 3), 'depth': np.array(4), 'values': ints(0, 3)}, attrs={
    'axis': [0, 1, -1, -2]}, variants=[{'depth': ints(5)}, {'indices': ints(-1, 3, -4)}])
OPERATORS['NonZero'] = Operator({'X': whole(0, 2, 3, 4)}, variants=[{'X': whole(0, 2, 5)}])

WINDOW = {'kernel_shape': [3, 2]}
WINDOWS = {
    'kernel_shape': [[3, 2], [1, 1], V([2], X=(1, 2, 7)), V([2, 3, 2], X=(1, 2, 4, 5, 3))],
    'strides': [[2, 3], V([2], attrs={'kernel_shape': [3]}, X=(1, 2, 8))],
    'pads': [[1, 0, 1, 1], [1, 1, 0, 0]],
    'auto_pad': ['NOTSET', 'VALID', 'SAME_UPPER', 'SAME_LOWER', V('SAME_UPPER', attrs={'strides': [2, 3]}),
                 V('SAME_LOWER', attrs={'strides': [2, 2]})],
    'dilations': [[2, 1], V([2, 2], attrs={'pads': [1, 1, 1, 1], 'strides': [2, 1]})],
    'ceil_mode': [0, V(1, attrs={'strides': [2, 3]}), V(1, attrs={'strides': [3, 3], 'pads': [1, 1, 1, 1]})],
}
IMAGE = {'X': (2, 2, 7, 8)}
OPERATORS['MaxPool'] = Operator({'X': distinct(2, 2, 7, 8)}, always=WINDOW, attrs={
    **WINDOWS, 'storage_order': [0, 1]})
OPERATORS['MaxPool'].attrs['kernel_shape'] = [[3, 2], [1, 1], V([2], X=distinct(1, 2, 7)),
                                              V([2, 3, 2], X=distinct(1, 2, 4, 5, 3))]
OPERATORS['AveragePool'] = Operator(IMAGE, always=WINDOW, attrs={**WINDOWS, 'count_include_pad': [
    V(1, attrs={'pads': [1, 0, 1, 1]}), V(1, attrs={'auto_pad': 'SAME_UPPER'}),
    V(1, attrs={'pads': [1, 1, 1, 1], 'strides': [3, 3], 'ceil_mode': 1})]})
OPERATORS['LpPool'] = Operator(IMAGE, always=WINDOW, attrs={**WINDOWS, 'p': [1, 2, 3, V(3, attrs={'pads': [1, 0, 1, 1]})]})
for each in ('GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool'):
    OPERATORS[each] = Operator(IMAGE, attrs={'p': [1, 2, 3]}, variants=[{'X': (2, 3, 5)}, {'X': (2, 3, 2, 3, 4)}])
OPERATORS['Conv'] = Operator({'X': (2, 4, 7, 8), 'W': (6, 4, 3, 2), 'B': (6,)}, attrs={
    'kernel_shape': [[3, 2], V([3], X=(2, 4, 7), W=(6, 4, 3)), V([2, 3, 2], X=(1, 4, 4, 5, 3), W=(2, 4, 2, 3, 2))],
    'strides': WINDOWS['strides'][:1], 'pads': WINDOWS['pads'], 'auto_pad': WINDOWS['auto_pad'],
    'dilations': WINDOWS['dilations'], 'group': [V(2, W=(6, 2, 3, 2)), V(4, W=(4, 1, 3, 2)), V(2, W=(6, 2, 3, 2), B=(6,))]},
    variants=[{'X': (1, 4, 7), 'W': (2, 4, 3)}, {'X': (1, 4, 4, 3, 3), 'W': (2, 4, 2, 1, 3)}])
OPERATORS['ConvTranspose'] = Operator({'X': (2, 4, 3, 4), 'W': (4, 3, 3, 2), 'B': (3,)}, attrs={
    'kernel_shape': [[3, 2], V([3], X=(2, 4, 5), W=(4, 3, 3))],
    'strides': [[2, 3], V([2], X=(1, 4, 4), W=(4, 2, 3))], 'pads': [[1, 0, 1, 1], V([1, 1, 0, 0], B=(3,))],
    'output_padding': [V([1, 2], attrs={'strides': [2, 3]})],
    'output_shape': [V([7, 12], attrs={'strides': [2, 3]}), V([6, 10], attrs={'strides': [2, 3]}),
                     V([6, 10], attrs={'strides': [2, 3], 'auto_pad': 'SAME_UPPER'})],
    'auto_pad': ['NOTSET', 'VALID', V('SAME_UPPER', attrs={'strides': [2, 2]}),
                 V('SAME_LOWER', attrs={'strides': [2, 2]}), 'SAME_UPPER'],
    'dilations': [[2, 1]], 'group': [V(2, B=(6,)), V(4)]},
    variants=[{'X': (1, 4, 3), 'W': (4, 2, 3)}, {'X': (1, 4, 2, 3, 2), 'W': (4, 2, 2, 1, 3)}])
RESIZED = {'scales': np.array([1, 1, 2, 1.5]), 'sizes': OMITTED}
SMALLER = {'scales': np.array([1, 1, 0.6, 0.5]), 'sizes': OMITTED}
SIZES = {'sizes': ints(1, 2, 6, 5), 'scales': OMITTED}
OPERATORS['Resize'] = Operator(
    {'X': (1, 2, 3, 4), 'roi': np.array([]), 'scales': RESIZED['scales'], 'sizes': SIZES['sizes']},
    fits=lambda given, attrs, version: len({'scales', 'sizes'} & given) == 1, types={'T2': ['float', 'double', 'float16']}, attrs={
        'mode': ['nearest', 'linear', 'cubic', V('linear', **SIZES), V('cubic', **SMALLER), V('linear', **SMALLER)],
        'coordinate_transformation_mode': [
            V(mode, attrs={'mode': kind}, until=LAST, **by) for mode, LAST in (
                ('half_pixel', 27), ('pytorch_half_pixel', 27), ('align_corners', 27), ('asymmetric', 27))
            for kind in ('linear', 'nearest', 'cubic') for by in (RESIZED, SMALLER, SIZES)] + [
                V('half_pixel_symmetric', attrs={'mode': kind}, since=19, **by)
                for kind in ('linear', 'nearest', 'cubic') for by in (RESIZED, SMALLER)] + [
                    V('tf_crop_and_resize', attrs={'mode': 'linear'}, **RESIZED,
                      roi=np.array([0, 0, 0.2, 0.3, 1, 1, 0.8, 0.9]))],
        'extrapolation_value': [V(5.0, attrs={'mode': 'linear', 'coordinate_transformation_mode': 'tf_crop_and_resize'},
                                  roi=np.array([0, 0, 0.2, 0.3, 1, 1, 0.8, 1.5]), **RESIZED), 3.0],
        'nearest_mode': [V(mode, **by) for mode in ('round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil')
                         for by in (RESIZED, SMALLER, SIZES)],
        'cubic_coeff_a': [V(-0.5, attrs={'mode': 'cubic'})],
        'exclude_outside': [V(1, attrs={'mode': 'cubic'}), V(1, attrs={'mode': 'linear'}),
                            V(1, attrs={'mode': 'cubic'}, **SMALLER)],
        'antialias': [V(1, attrs={'mode': 'linear'}, **SMALLER), V(1, attrs={'mode': 'cubic'}, **SMALLER),
                      V(1, attrs={'mode': 'linear'}, **RESIZED), 0],
        'axes': [V([2, 3], scales=np.array([2, 1.5])), V([3, 2], scales=OMITTED, sizes=ints(5, 6)),
                 V([-1], scales=np.array([2.0]))],
        'keep_aspect_ratio_policy': [V(policy, **SIZES) for policy in ('stretch', 'not_larger', 'not_smaller')] + [
            V(policy, scales=OMITTED, sizes=ints(7, 6), attrs={'axes': [2, 3], 'mode': 'linear'})
            for policy in ('not_larger', 'not_smaller')]})


def recurrent(gates, activations, more=None, **extra):
    def small(*shape):  # without a bound on what activations give, states grow
        return between(-0.6, 0.6, *shape)
    inputs = {'X': small(4, 2, 3), 'W': small(1, gates * 5, 3), 'R': small(1, gates * 5, 5), 'B': small(1, 2 * gates * 5),
              'sequence_lens': ints(4, 4), 'initial_h': small(1, 2, 5), 'initial_c': small(1, 2, 5), 'P': small(1, 15)}
    both = {'W': small(2, gates * 5, 3), 'R': small(2, gates * 5, 5), 'B': small(2, 2 * gates * 5),
            'initial_h': small(2, 2, 5)}
    several = {'W': both['W'], 'R': both['R']}
    attrs = {
        'hidden_size': [5], 'direction': ['forward', 'reverse', V('bidirectional', **several), V('bidirectional', **both)],
        'layout': [V(1, X=small(2, 4, 3)), V(1, X=small(2, 4, 3), initial_h=small(2, 1, 5), outputs=2),
                   V(1, X=small(2, 4, 3), W=both['W'], R=both['R'], attrs={'direction': 'bidirectional'}, outputs=2)],
        'clip': [0.3],
        'activations': [activations, V(activations * 2, **several, attrs={'direction': 'bidirectional'})] + [
            [kind] * len(activations) for kind in ('Relu', 'Sigmoid', 'Tanh', 'Softsign', 'Softplus')],
        'activation_alpha': [V([0.3] * len(activations), attrs={'activations': [kind] * len(activations)})
                             for kind in ('LeakyRelu', 'ThresholdedRelu', 'Elu')],
        'activation_beta': [V([0.4] * len(activations), attrs={
            'activations': [kind] * len(activations), 'activation_alpha': [0.3] * len(activations)})
            for kind in ('HardSigmoid', 'ScaledTanh', 'Affine')]}
    return Operator(inputs, attrs={**attrs, **(more or {})}, always={'hidden_size': 5},
                    variants=[{'sequence_lens': ints(4, 2)}, {'sequence_lens': ints(3, 1), 'outputs': 2}], **extra)


OPERATORS['LSTM'] = recurrent(4, ['Sigmoid', 'Tanh', 'Tanh'], {'input_forget': [1, 0]})
OPERATORS['GRU'] = recurrent(3, ['Sigmoid', 'Tanh'], {'linear_before_reset': [1, V(1, B=(1, 30))]})
OPERATORS['RNN'] = recurrent(1, ['Tanh'])

LOSS = {'reduction': ['none', 'sum', 'mean', V('sum', weight=between(0.5, 2, 4), weights=between(0.5, 2, 4))],
        'ignore_index': [1, V(-1, target=ints(0, -1, 2), labels=ints(0, -1, 2), attrs={'reduction': 'none'}),
                         V(2, weight=between(0.5, 2, 4), weights=between(0.5, 2, 4))]}
OPERATORS['NegativeLogLikelihoodLoss'] = Operator(
    {'input': (3, 4), 'target': whole(0, 4, 3), 'weight': between(0.5, 2, 4)}, attrs=LOSS, variants=[
        {'input': (3, 4, 5), 'target': whole(0, 4, 3, 5)}, {'input': (3, 4, 2, 2), 'target': whole(0, 4, 3, 2, 2)}])
OPERATORS['SoftmaxCrossEntropyLoss'] = Operator(
    {'scores': (3, 4), 'labels': whole(0, 4, 3), 'weights': between(0.5, 2, 4)}, attrs=LOSS, variants=[
        {'scores': (3, 4, 5), 'labels': whole(0, 4, 3, 5)}, {'scores': (3, 4, 2, 2), 'labels': whole(0, 4, 3, 2, 2)}])

OPERATORS['Range'] = Operator({0: np.array(1), 1: np.array(7), 2: np.array(2)}, attrs={'stash_type': [T.FLOAT, T.DOUBLE]},
                              variants=[{0: np.array(5), 1: np.array(-2), 2: np.array(-3), 'types': {'T': 'int64'}},
                                        {0: np.array(0), 1: np.array(1), 2: np.array(0.3)}])
OPERATORS['EyeLike'] = Operator({'input': (3, 4)}, attrs={'dtype': [
    V(kind, since=22 if kind == T.BFLOAT16 else 9) for kind in ALL_TYPES], 'k': [1, -1, 9, V(
    2, attrs={'dtype': T.INT32})]})
OPERATORS['ConstantOfShape'] = Operator({'input': ints(2, 3)}, attrs={
    'value': [V(tensor(dtype, [2]), since=20 if name == 'bfloat16' else 9) for name, dtype in TYPES.items()]
    + [tensor(np.float32, [-1.5])]}, variants=[{'input': ints()}])
ALONE = {'value_int': OMITTED}
OPERATORS['Constant'] = Operator(always={'value_int': 3}, attrs={
    'value': [V(tensor(dtype, [[1, 2, 0]]), ALONE) for dtype in TYPES.values()] + [V(tensor(np.float32, 1.5), ALONE)],
    'value_int': [3, -2 ** 40], 'value_ints': [V([1, 2, -3], ALONE), V([4], ALONE)],
    'value_float': [V(0.1, ALONE)], 'value_floats': [V([0.1, -2.0], ALONE)],
    'value_string': [V('text', ALONE)], 'value_strings': [V(['a', 'b'], ALONE)],
    'sparse_value': [V(helper.make_sparse_tensor(tensor(np.float32, [1.5, 2.5]), tensor(I64, [0, 3]), [5]), ALONE),
                     V(helper.make_sparse_tensor(tensor(I64, [3, 4]), tensor(I64, [[0, 1], [1, 2]]), [2, 3]), ALONE)]})


def gives(value):
    """A check of programs that evaluate: what training draws is its mean there (docs/decisions/0003), with the type
    that was asked for."""
    def check(case, results):
        given = {each.name: helper.get_attribute_value(each) for each in case.nodes[0].attribute}
        want = value(case, given)
        return '' if np.allclose(np.asarray(results[0], np.float64), want) else f'gives {results[0].ravel()[:4]}, not {want}'
    return check


NORMAL = gives(lambda case, given: given.get('mean', 0))
UNIFORM = gives(lambda case, given: (given.get('low', 0) + given.get('high', 1)) / 2)
BERNOULLI = gives(lambda case, given: np.asarray(case.arrays['input'], np.float64) > 0.5)
DROPOUT = gives(lambda case, given: np.asarray(case.arrays['data'], np.float64))
DRAWN_TYPES = [T.FLOAT, T.DOUBLE, T.FLOAT16, V(T.BFLOAT16, since=22)]
SPREAD = {'RandomNormal': {'mean': [2.0], 'scale': [0.5, V(2.0, attrs={'mean': -1.0})]},
          'RandomUniform': {'low': [-1.0], 'high': [3.0, V(5.0, attrs={'low': 2.0})]}}
for each, check in (('RandomNormal', NORMAL), ('RandomUniform', UNIFORM)):
    common = {**SPREAD[each], 'seed': [1.0], 'dtype': DRAWN_TYPES}
    OPERATORS[each] = Operator(always={'shape': [8, 40]}, attrs={**common, 'shape': [[8, 40], [3]]}, check=check)
    OPERATORS[each + 'Like'] = Operator({'input': (8, 40)}, attrs=common, check=check, types={
        'T1': ['float', 'double', 'float16', 'bfloat16']}, variants=[
            {'input': (8, 40), 'types': {'T1': 'int32'}, 'attrs': {'dtype': T.FLOAT}}])
OPERATORS['Bernoulli'] = Operator({'input': between(0, 1, 8, 40)}, attrs={
    'dtype': list(ALL_TYPES), 'seed': [1.0]}, check=BERNOULLI)
OPERATORS['Dropout'] = Operator(
    {'data': (8, 40), 'ratio': np.array(0.25), 'training_mode': np.array(True)}, attrs={'seed': [3]}, check=DROPOUT,
    variants=[{'training_mode': np.array(False)}, {'ratio': np.array(0.0), 'training_mode': np.array(True)},
              {'ratio': np.array(0.75), 'training_mode': np.array(True), 'outputs': [True, True]}])
