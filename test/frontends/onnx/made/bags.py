"""Loops over bags as exporters write them, and loops that are none."""
import numpy as np
from onnx import TensorProto, helper

from made.parts import F32, I64, f32, good, model, node, save, tensor, value


def _bags(reduction, offsets, rows=(), axis=0):
    """As TorchScript writes an EmbeddingBag: rows w[ids[begin[i]:end[i]]] of bag i, through `rows`, reduced."""
    c = lambda name, array: tensor(name, np.array(array))
    body = helper.make_graph(
        [node("Gather", ["begin", "i"], ["b"]), node("Gather", ["end", "i"], ["e"]), node("Unsqueeze", ["b", "axis"], ["b1"]),
         node("Unsqueeze", ["e", "axis"], ["e1"]), node("Slice", ["ids", "b1", "e1", "axis"], ["some"]), node("Gather", ["w", "some"], ["taken"]),
         *rows, node(reduction, ["rows" if rows else "taken"], ["r"], axes=[axis], keepdims=0), node("Identity", ["go"], ["more"])], "body",
        [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("more", TensorProto.BOOL, []), value("r", [2 if axis else 4])])
    known = isinstance(offsets, list)
    return model(
        [node("Concat", ["offsets", "size"], ["all"], axis=0), node("Slice", ["all", "from", "to"], ["end"]),
         node("Identity", ["offsets"], ["begin"]), node("Loop", ["count", "yes"], ["y"], body=body)],
        [f32("w", 10, 4), c("size", [6]), c("from", [1]), c("to", [9]), c("count", 3), c("yes", True), c("axis", [0])]
        + ([c("offsets", offsets)] if known else []),
        [value("ids", [6], I64)] + ([] if known else [value("offsets", [3], I64)]), [value("y", [3, 2 if axis else 4])])


def bags():
    means = lambda offsets, **form: _bags("ReduceMean", offsets, **form)
    good("bags-equal", means([0, 2, 4]))
    good("bags-uneven", means([0, 1, 1]))
    good("bags-data", means(None))
    good("bags-max", _bags("ReduceMax", None))
    # The reduction of columns has as many elements as the bag has rows; it is no reduction of a bag.
    good("bags-columns", means([0, 2, 4], axis=1))
    save("bad-bags-columns", means(None, axis=1))
    # Each row is multiplied with the number of its bag.
    rows = [node("Cast", ["i"], ["number"], to=F32), node("Mul", ["taken", "number"], ["rows"])]
    good("bags-numbered", means([0, 2, 4], rows=rows))
    # A loop of 400 in one of 400.
    inner = helper.make_graph([node("Add", ["v", "x"], ["a"]), node("Identity", ["q"], ["p"])], "inner",
                              [helper.make_tensor_value_info("j", I64, []), helper.make_tensor_value_info("q", TensorProto.BOOL, []), value("v")],
                              [helper.make_tensor_value_info("p", TensorProto.BOOL, []), value("a")])
    outer = helper.make_graph([node("Loop", ["n", "", "u"], ["t"], body=inner), node("Identity", ["go"], ["more"])], "outer",
                              [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []), value("u")],
                              [helper.make_tensor_value_info("more", TensorProto.BOOL, []), value("t")])
    save("bad-loop-nested", model([node("Loop", ["n", "", "x"], ["y"], body=outer)], [tensor("n", np.array(400))]))
