"""Operators that stand for several functions of PyTorch, which differ in their gradients."""
import numpy as np
from onnx import numpy_helper

from made.parts import f32, good, model, node, tensor, value


SHAPES = {"ReduceMax": (2, 1), "ReduceMin": (2, 1)}


def described(*nodes):
    """Nodes with what the default exporter says of each: (node, call, or a dictionary of metadata)."""
    for made, metadata in nodes:
        metadata = metadata if isinstance(metadata, dict) else {"fx_node": metadata}
        for key, text in metadata.items():
            text = f"%r : [num_users=1] = call_function[target=torch.ops.{text}, kwargs = {{}})" if key == "fx_node" else text
            made.metadata_props.add(key=f"pkg.torch.onnx.{key}", value=text)
        yield made


def named():
    number, of_tensor = "%scalar_tensor_default_2", "%clone"
    amax = "aten.amax.default](args = (%x, [-1], True)"
    pool = "['M', 'torch.nn.modules.pooling.AdaptiveMaxPool1d', 'aten.amax.default']"
    line = 'File "m.py", line 3, in forward\n    x = F.adaptive_max_pool1d(x, 1)\n'
    cases = [
        ("along", "ReduceMax", ["x", "last"], "aten.max.dim](args = (%x, 1)"),
        ("least", "ReduceMin", ["x", "last"], "aten.min.dim](args = (%x, 1)"),
        ("even", "ReduceMax", ["x", "last"], amax),
        ("all", "ReduceMax", ["x"], "aten.max.default](args = (%x,)"),
        ("pooled", "ReduceMax", ["x", "last"], {"fx_node": amax, "class_hierarchy": pool}),
        ("pooled_in_line", "ReduceMax", ["x", "last"], {"fx_node": amax, "stack_trace": line}),
        ("unnamed", "ReduceMax", ["x", "last"], {}),
        ("between_numbers", "Clip", ["x", "low", "high"], f"aten.clamp.Tensor](args = (%x, {number}, {number})"),
        ("between_tensors", "Clip", ["x", "low", "high"], f"aten.clamp.Tensor](args = (%x, {of_tensor}, {of_tensor})"),
        ("from_number", "Max", ["x", "low"], f"aten.clamp.Tensor](args = (%x, {number})"),
        ("from_tensor", "Max", ["x", "low"], f"aten.clamp.Tensor](args = (%x, {of_tensor})"),
        ("to_number", "Min", ["x", "high"], f"aten.clamp.Tensor](args = (%x, None, {number})"),
        ("merged", "Clip", ["x", "low", "high"], f"aten.clamp.Tensor](args = (%maximum_1, None, {number})"),
        ("larger", "Max", ["x", "low"], "aten.maximum.default](args = (%x, %low)"),
    ]
    nodes = described(*((node(op, inputs, [name]), metadata) for name, op, inputs, metadata in cases))
    constants = [tensor("last", np.array([1])), tensor("low", np.float32(-1)), tensor("high", np.float32(2))]
    good("kinks", model(nodes, constants, outputs=[value(name, SHAPES.get(op, (2, 4)) if name != "all" else (1, 1)) for name, op, *_ in cases], opset=18))


def by_torchscript():
    """No metadata, and the exporter's name. What the module calls p and least trains."""
    constant = [node("Constant", [], [name], value=numpy_helper.from_array(np.array(number)))
                for name, number in (("one", [1]), ("both", [0, 1]), ("two", np.float32(2)), ("half", np.float32(0.5)))]
    nodes = [*constant, node("ReduceMax", ["x", "one"], ["along"]), node("ReduceMax", ["x", "both"], ["even"]),
             node("ReduceMax", ["x"], ["all"]), node("Pow", ["x", "two"], ["q"]), node("ReduceSum", ["q", "one"], ["s"]),
             node("Pow", ["s", "half"], ["distance"]), node("Sqrt", ["x"], ["root"]),
             node("Clip", ["x", "least"], ["c"]), node("Pow", ["c", "p"], ["power"])]
    made = model(nodes, [f32("p", 1), tensor("least", np.float32(0.5))],
                 outputs=[value(name, shape) for name, shape in (
                     ("along", (2, 1)), ("even", (1, 1)), ("all", (1, 1)), ("distance", (2, 1)), ("root", (2, 4)),
                     ("power", (2, 4)))], opset=18)
    made.producer_name = "pytorch"
    good("kinks-torchscript", made)


def kinks():
    named(), by_torchscript()
