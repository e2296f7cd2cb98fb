"""What the results of a generated case must be: onnx.reference's, but for what this file lists."""
import warnings

import ml_dtypes
import numpy as np
from onnx.reference import ReferenceEvaluator

from schema_formulas import FORMULAS, attributes

NARROW = {np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)}
# Relative and absolute error, by element type.
BOUNDS = {np.dtype(np.float64): (1e-6, 1e-7), np.dtype(np.float32): (1e-4, 1e-5), np.dtype(np.float16): (1e-2, 4e-3),
          np.dtype(ml_dtypes.bfloat16): (4e-2, 3e-2)}


def reference(model, arrays):
    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore')
        return ReferenceEvaluator(model).run(None, arrays)


def runtime(model, arrays):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    return session.run(None, arrays)


def retyped(case, change):
    """The same node with other arrays."""
    arrays = {name: change(array) for name, array in case.arrays.items()}
    return type(case)(case.op, case.version, 'retyped', case.nodes, arrays, case.outputs)


def related(case):
    """The case; and, should nobody evaluate it, with FLOAT for narrower floats, or numbers for BOOL."""
    types = {array.dtype for array in case.arrays.values()}
    yield case, lambda array: array
    if types & NARROW:
        yield retyped(case, lambda array: array.astype(np.float32) if array.dtype in NARROW else array), lambda array: array
    if types == {np.dtype(np.bool_)} | types & {np.dtype(np.int64), np.dtype(np.float32)}:
        yield retyped(case, lambda array: array.astype(np.uint8) if array.dtype == np.bool_ else array), (
            lambda array: array.astype(np.bool_) if array.dtype == np.uint8 else array)


def contradicts(model, results):
    """Whether the shapes are others than ONNX infers."""
    for output, array in zip(model.graph.output, results):
        known = output.type.tensor_type
        extents = [dim.dim_value if dim.HasField('dim_value') else None for dim in known.shape.dim]
        if known.HasField('shape') and (len(extents) != array.ndim or any(
                extent not in (None, size) for extent, size in zip(extents, array.shape))):
            return True
    return False


class Unknown(Exception):
    pass


def expected(case):
    """The results as arrays in the order of case.outputs, and who says so."""
    if case.op in FORMULAS:
        results = FORMULAS[case.op](case)
        if results is not None:
            return [np.asarray(each) for each in results], 'formula'
    problems, shapes = [], None
    for each, back in related(case):
        for who in (reference, runtime):
            if who is reference and distrusted(case):
                continue
            model = each.model()
            constants = {constant.name for constant in model.graph.initializer}
            try:
                results = [np.asarray(array) for array in who(model, {
                    name: array for name, array in each.arrays.items() if name not in constants})]
            except Exception as error:  # whatever an evaluator trips over
                problems.append(f'{who.__name__}: {type(error).__name__}: {str(error)[:120]}')
                continue
            # One evaluator that contradicts the shapes that ONNX infers is wrong, two that agree are right: inference
            # counts windows that begin in padding, in the pools of older versions.
            if not contradicts(model, results) or shapes == [array.shape for array in results]:
                return [back(array) for array in results], who.__name__
            shapes = [array.shape for array in results]
            problems.append(f'{who.__name__}: shapes {shapes}, which are not those that ONNX infers')
    raise Unknown('; '.join(problems).replace('\n', ' '))


# (operator, which cases, why); onnxruntime is asked instead.
DISTRUSTED = [
    ('Attention', lambda given: given.get('qk_matmul_output_mode') == 0 and 'softcap' in given,
     'mode 0 is "the output of qk matmul"; the reference gives it after the softcap'),
    ('LpNormalization', lambda given: given.get('p') == 1, 'the L1 norm sums absolute values; the reference the values'),
    ('Resize', lambda given: given.get('coordinate_transformation_mode') == b'pytorch_half_pixel',
     'length_resized is the length of the result; the reference takes it before it is rounded'),
]


def distrusted(case):
    given = attributes(case)
    return any(case.op == op and holds(given) for op, holds, _ in DISTRUSTED)
