"""Models with floats of 16 bits, wherever a type may stand."""
import numpy as np
from onnx import TensorProto, helper

from made.parts import F32, f32, good, model, node, save, tensor, value

BF16, F16 = TensorProto.BFLOAT16, TensorProto.FLOAT16


def half(name, type, values, *shape):
    return helper.make_tensor(name, type, shape, np.asarray(values, np.float32).reshape(-1))


def halves():
    """A norm in f32 between products in 16 bits, as language models have it; positions that bf16 cannot tell apart."""
    for name, type in (("bf16", BF16), ("f16", F16)):
        good(f"half-{name}", model(
            [node("Cast", ["p"], ["q"], to=type), node("Add", ["x", "q"], ["a"]), node("Cast", ["a"], ["c"], to=F32),
             node("LayerNormalization", ["c", "s"], ["n"], epsilon=1e-12), node("Cast", ["n"], ["b"], to=type),
             node("MatMul", ["b", "w"], ["m"]), node("Constant", [], ["k"], value=half("k", type, [0.1])),
             node("Mul", ["m", "k"], ["t"]), node("CastLike", ["o", "t"], ["l"]), node("Add", ["t", "l"], ["y"])],
            [tensor("p", np.array([257, 1, 2, 3])), tensor("s", np.arange(4, dtype=np.float32)),
             half("w", type, np.random.RandomState(0).randn(20), 4, 5), tensor("o", np.array([1, 0, 0, 0, 3]))],
            inputs=[value("x", [2, 4], type)], outputs=[value("y", [2, 5], type)]))
    # As PyTorch writes it: the operator has no bf16 at this opset.
    save("half-conv", model([node("Conv", ["x", "w"], ["y"])], [half("w", BF16, np.random.RandomState(0).randn(9), 1, 1, 3, 3)],
                            inputs=[value("x", [2, 1, 3, 3], BF16)], outputs=[value("y", [2, 1, 1, 1], BF16)]))
    good("half-cast", model([node("Cast", ["x"], ["c"], to=BF16), node("Cast", ["w"], ["v"], to=BF16), node("MatMul", ["c", "v"], ["m"]),
                             node("Cast", ["m"], ["y"], to=F32)], [f32("w", 4, 4)]))
