"""Parameters that the default exporter joined, permuted or merged; folds and calls are written as it writes them."""
import numpy as np

from made.classification import folded, fx, mark, sign
from made.parts import f32, good, model, node, tensor, value


def signature(m, names):
    sign(m, "\n# inputs\n" + "".join(f"p_{t.replace('.', '_')}: PARAMETER target='{t}'\n" for t in names)
         + "x: USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n")


def recurrent(kind, states, parameters, layers=1):
    listed = ", ".join("%p_" + name.replace(".", "_") for name in parameters)
    return f"{kind}.input](args = (%x, {states}, [{listed}], True, {layers}, 0.0, False, False, False), kwargs = {{}})"


def gates():
    """A GRU of 2 units whose biases were folded but for the last step, and whose weights were too large to be."""
    names = [f"r.{kind}_l0" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    nodes = [node("Unsqueeze", ["r.weight_ih_l0", "axis"], ["w"]), node("Unsqueeze", ["val_3", "axis"], ["b"]),
             node("GRU", ["x", "w", "val_2", "b"], ["y"], hidden_size=2, linear_before_reset=1)]
    m = model(nodes, [tensor("axis", np.array([0])), f32("r.weight_ih_l0", 6, 4),
                      tensor("val_2", np.arange(12, dtype=np.float32).reshape(1, 6, 2)), tensor("val_3", np.arange(12, dtype=np.float32))],
              inputs=[value("x", [3, 2, 4])], outputs=[value("y", [3, 1, 2, 2])])
    mark(m, "r.weight_ih_l0", "PARAMETER"), signature(m, names)
    folded(m, "val_2", ["r.weight_hh_l0", "val_1"]), folded(m, "val_3", ["r.bias_hh_l0", "r.bias_ih_l0", "val_1"])
    for i in range(3):
        fx(m, i, recurrent("gru", "%zeros", names))
    good("joined-gates", m)


def projected():
    """An LSTM with a projection of its states, which the exporter leaves out."""
    names = [f"r.{kind}_l0" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")]
    m = model([node("LSTM", ["x", "val_1", "val_2", "val_3"], ["y"], hidden_size=3)],
              [f32("val_1", 1, 12, 4), f32("val_2", 1, 12, 3), f32("val_3", 1, 24)],
              inputs=[value("x", [3, 2, 4])], outputs=[value("y", [3, 1, 2, 3])])
    signature(m, names), fx(m, 0, recurrent("lstm", "[%zeros, %zeros_1]", names))
    folded(m, "val_1", names[:1]), folded(m, "val_2", names[1:2]), folded(m, "val_3", names[2:4])
    good("joined-projected", m)


def states():
    """Trained first states of two layers: each layer reads a slice."""
    names = [f"r.{kind}_l{layer}" for layer in range(2) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    nodes = [node("GRU", ["x", "w0", "r0", "b0", "", "val_1"], ["a"], hidden_size=4, linear_before_reset=1), node("Squeeze", ["a", "axis"], ["b"]),
             node("GRU", ["b", "w1", "r1", "b1", "", "val_2"], ["y"], hidden_size=4, linear_before_reset=1)]
    inits = [f32(f"{kind}{layer}", *shape) for layer in range(2) for kind, shape in (("w", (1, 12, 4)), ("r", (1, 12, 4)), ("b", (1, 24)))]
    m = model(nodes, [*inits, tensor("axis", np.array([1])), f32("val_1", 1, 2, 4), f32("val_2", 1, 2, 4)],
              inputs=[value("x", [3, 2, 4])], outputs=[value("y", [3, 1, 2, 4])])
    signature(m, [*names, "start"])
    for name in "val_1", "val_2":
        folded(m, name, ["start", "val_0"])
    for i in range(3):
        fx(m, i, recurrent("gru", "%p_start", names, layers=2))
    good("joined-states", m)


def merged():
    """Two identity matrices, of which one is transposed, were merged: the file does not say which."""
    m = model([node("MatMul", ["x", "a"], ["t"]), node("Relu", ["t"], ["u"]), node("MatMul", ["u", "a"], ["y"])], [tensor("a", np.eye(4, dtype=np.float32))])
    mark(m, "a", "PARAMETER"), signature(m, ["a", "b"])
    fx(m, 0, "matmul.default](args = (%x, %p_a), kwargs = {})"), fx(m, 2, "matmul.default](args = (%u, %permute), kwargs = {})")
    good("merged-matrices", m)
    # Of one parameter alone, it is that one's.
    signature_of = [p for p in m.graph.metadata_props if p.key.endswith("graph_signature")]
    for each in signature_of:
        m.graph.metadata_props.remove(each)
    signature(m, ["a"])
    good("merged-matrix", m)


def views(name, last, dims, source="w"):
    """A parameter behind views, whose names alone are known."""
    info = value(last, dims)
    info.metadata_props.add(key="pkg.onnxscript.optimizer.folded_from", value=repr(source if isinstance(source, list) else [source]))
    m = model([node("Mul", ["x", last], ["y"])], [f32(last, *dims)], inputs=[value("x", dims)], outputs=[value("y", dims)])
    m.graph.value_info.append(info)
    signature(m, ["w"]), fx(m, 0, f"mul.Tensor](args = (%x, %{last}), kwargs = {{}})")
    good("view-" + name, m)


def restoration():
    gates(), projected(), states(), merged()
    views("matrix", "permute", [3, 2]), views("twice", "permute_1", [3, 2], ["permute", "w"])
    views("channels", "view", [1, 3, 1, 1], ["val_1", "w"]), views("added", "unsqueeze_1", [3, 2, 1, 1], ["unsqueeze", "w"])
    views("cube", "permute", [2, 2, 2]), views("shape", "view_1", [2, 3], ["val_1", "w"]), views("part", "slice_1", [2, 3], ["val_1", "w"])
    views("vector", "view", [6], ["permute", "w"])
