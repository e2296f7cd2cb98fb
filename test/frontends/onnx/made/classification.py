"""One initializer a rule of Classify.h, and parameters that exports lose; names say what they are."""
import numpy as np

from made.parts import f32, good, model, node, tensor, value


def mark(m, name, kind):
    info = value(name, [4])
    info.metadata_props.add(key="pkg.torch.export.graph_signature.InputSpec.kind", value=kind)
    m.graph.value_info.append(info)


def folded(m, name, source):
    info = value(name, [4])
    info.metadata_props.add(key="pkg.onnxscript.optimizer.folded_from", value=repr(source))
    m.graph.value_info.append(info)


def sign(m, text):
    m.graph.metadata_props.add(key="pkg.torch.export.ExportedProgram.graph_signature", value=text)


def chain(names, op="Add"):
    nodes, last = [], "x"
    for i, n in enumerate(names):
        out = "y" if i + 1 == len(names) else f"t{i}"
        nodes.append(node(op, [last, n], [out], f"n{i}"))
        last = out
    return nodes


def fx(m, i, text):
    m.graph.node[i].metadata_props.add(key="pkg.torch.onnx.fx_node", value="%t : [num_users=1] = call_function[target=torch.ops.aten." + text)


def marked():
    """Marks, folds and names of a dynamo export."""
    names = ["marked", "marked_buffer", "marked_constant", "folded_parameter", "folded_buffer", "lost.mark", "lost.buffer", "taken", "spare", "standardized"]
    m = model(chain(names), [f32(n, 4, seed=i) for i, n in enumerate(names)])
    mark(m, "marked", "PARAMETER"), mark(m, "marked_buffer", "BUFFER"), mark(m, "marked_constant", "CONSTANT_TENSOR")
    folded(m, "folded_parameter", ["val_1", "a.weight"]), folded(m, "folded_buffer", ["a.buffer", "val_3"]), folded(m, "standardized", ["g.gain", "g.weight", "val_9"])
    sign(m, "\n# inputs\np_marked: PARAMETER target='marked'\np_a: PARAMETER target='a.weight'\nb_a: BUFFER target='a.buffer'\n"
            "p_lost: PARAMETER target='lost.mark'\nb_lost: BUFFER target='lost.buffer'\np_taken: PARAMETER target='m.taken'\np_gg: PARAMETER target='g.gain'\np_gw: PARAMETER target='g.weight'\nx: USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n")
    m.graph.node[7].metadata_props.add(key="pkg.torch.onnx.fx_node", value="%n7 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%t6, %p_taken), kwargs = {})")
    good("classify-dynamo", m)


def looks():
    """Looks, without metadata."""
    position = np.arange(8)[:, None] / 10.0 ** np.arange(4)
    inits = [
        f32("weight", 4, 4), tensor("fresh_bias", np.zeros(4, np.float32)), tensor("fresh_scale", np.ones(4, np.float32)),
        tensor("float_mask", np.where(np.tril(np.ones((4, 4))), 0, -1e9).astype(np.float32)),
        tensor("one_mask", np.tril(np.ones((4, 4))).astype(np.float32)),
        tensor("sine", np.sin(position).astype(np.float32)), tensor("frequencies", (1e4 ** (-np.arange(4) / 4)).astype(np.float32)),
        tensor("scalar", np.float32(0.5)), tensor("single", np.array([0.5], np.float32)),
        f32("exponent", 4), tensor("indices", np.array([0, 1])), f32("mean", 4), f32("deviation", 4), f32("inv_freq", 4),
        f32("embedding", 8, 4), f32("unused_path", 4),
    ]
    nodes = [
        node("Sub", ["x", "mean"], ["x1"]), node("Div", ["x1", "deviation"], ["x2"]),
        node("MatMul", ["x2", "weight"], ["a"]), node("Add", ["a", "fresh_bias"], ["b"]), node("Mul", ["b", "fresh_scale"], ["c"]),
        node("Mul", ["c", "scalar"], ["d"]), node("Add", ["d", "single"], ["e"]), node("Pow", ["e", "exponent"], ["f"]),
        node("Gather", ["float_mask", "indices"], ["g0"]), node("Add", ["f", "g0"], ["g"]),
        node("Gather", ["one_mask", "indices"], ["h0"]), node("Mul", ["g", "h0"], ["h"]),
        node("Gather", ["sine", "indices"], ["i0"]), node("Add", ["h", "i0"], ["i"]), node("Mul", ["i", "frequencies"], ["j"]),
        node("Mul", ["j", "inv_freq"], ["k"]), node("Gather", ["embedding", "indices"], ["l0"]), node("Add", ["k", "l0"], ["l"]),
        node("Greater", ["l", "unused_path"], ["m0"]), node("Where", ["m0", "l", "k"], ["y"]),
    ]
    good("classify-looks", model(nodes, inits))


def statistics():
    """BatchNormalization: statistics, and a neutral affine part of TorchScript's affine=False."""
    m = model([node("BatchNormalization", ["x", "onnx::BatchNormalization_1", "onnx::BatchNormalization_2", "running_m", "running_v"], ["a", "m1", "v1"], training_mode=1),
               node("Relu", ["a"], ["y"])],
              [tensor("onnx::BatchNormalization_1", np.ones(4, np.float32)), tensor("onnx::BatchNormalization_2", np.zeros(4, np.float32)),
               tensor("running_m", np.zeros(4, np.float32)), tensor("running_v", np.ones(4, np.float32))])
    m.producer_name = "pytorch"
    good("classify-batch-norm", m)


def lost():
    """What exports lose."""
    m = model([node("MatMul", ["x", "val_1"], ["a"]), node("Add", ["a", "tied"], ["b"]), node("Mul", ["b", "ln1"], ["c"]), node("Mul", ["c", "ln1"], ["d"]),
               node("Add", ["d", "val_2"], ["y"])],
              [f32("val_1", 4, 4), f32("tied", 4), f32("ln1", 4), f32("val_2", 4)])
    mark(m, "tied", "PARAMETER"), mark(m, "ln1", "PARAMETER")
    folded(m, "val_1", ["fc.weight"]), folded(m, "val_2", ["tied"])
    sign(m, "\n# inputs\np_fc: PARAMETER target='fc.weight'\np_tied: PARAMETER target='tied'\np_ln1: PARAMETER target='ln1'\np_ln2: PARAMETER target='ln2'\n"
            "p_gone: PARAMETER target='gone'\n\n# outputs\ny: USER_OUTPUT\n")
    m.graph.node[3].metadata_props.add(key="pkg.torch.onnx.fx_node", value="%d : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%c, %p_ln2), kwargs = {})")
    good("losses-dynamo", m)


def merged():
    """Two normalisations whose weights and biases are equal; one whose bias the exporter dropped; a convolution that a BatchNorm is folded into."""
    m = model([node("LayerNormalization", ["x", "n1.weight", "n1.bias"], ["a"]), node("LayerNormalization", ["a", "n1.weight", "n1.bias"], ["b"]),
               node("LayerNormalization", ["b", "n1.weight"], ["d"]), node("Conv", ["d", "conv.weight"], ["y"])],
              [f32("n1.weight", 4), f32("n1.bias", 4), f32("conv.weight", 2, 3, 1)],
              inputs=[value("x", [2, 3, 4])], outputs=[value("y", [2, 2, 4])])
    for name in "n1.weight", "n1.bias", "conv.weight":
        mark(m, name, "PARAMETER")
    sign(m, "\n# inputs\n" + "".join(f"p_{t.replace('.', '_')}: PARAMETER target='{t}'\n" for t in (
        "n1.weight", "n1.bias", "n2.weight", "n2.bias", "n3.bias", "n3.weight", "conv.weight", "bn.weight", "bn.bias"))
        + "\n# outputs\ny: USER_OUTPUT\n")
    fx(m, 0, "layer_norm.default](args = (%x, [4], %p_n1_weight, %p_n1_bias), kwargs = {})")
    fx(m, 1, "layer_norm.default](args = (%a, [4], %p_n2_weight, %p_n2_bias), kwargs = {})")
    fx(m, 2, "layer_norm.default](args = (%b, [4], %p_n3_weight, %p_n3_bias), kwargs = {})")
    fx(m, 3, "_native_batch_norm_legit_no_training.default](args = (%conv, %p_bn_weight, %p_bn_bias, %b_m, %b_v, 0.1, 1e-05), kwargs = {})")
    m.graph.node[3].metadata_props.add(key="pkg.onnxscript.rewriter.rule_name", value="FuseBatchNormIntoConv")
    good("losses-merged", m)


def dropped():
    """Biases of zeros that the exporter dropped: one number for each channel of the result, which a weight has elsewhere in each operator."""
    m = model([node("ConvTranspose", ["x", "up.weight"], ["a"], group=2), node("Conv", ["a", "down.weight"], ["y"], group=2)],
              [f32("up.weight", 4, 3, 1), f32("down.weight", 8, 3, 1)],
              inputs=[value("x", [2, 4, 5])], outputs=[value("y", [2, 8, 5])])
    names = [f"{layer}.{kind}" for layer in ("up", "down") for kind in ("weight", "bias")]
    sign(m, "\n# inputs\n" + "".join(f"p_{t.replace('.', '_')}: PARAMETER target='{t}'\n" for t in names) + "\n# outputs\ny: USER_OUTPUT\n")
    fx(m, 0, "convolution.default](args = (%x, %p_up_weight, %p_up_bias, [1], [0], [1], True, [0], 2), kwargs = {})")
    fx(m, 1, "convolution.default](args = (%a, %p_down_weight, %p_down_bias, [1], [0], [1], False, [0], 2), kwargs = {})")
    for i, layer in enumerate(("up", "down")):
        mark(m, f"{layer}.weight", "PARAMETER")
        m.graph.node[i].metadata_props.add(key="pkg.onnxscript.rewriter.rule_name", value="RemoveOptionalBiasFromConv" + ("Transpose" if i == 0 else ""))
    good("dropped-biases", m)


def torchscript():
    """What TorchScript names after nodes, and a batch norm that dynamo writes for training."""
    m = model([node("Conv", ["x", "onnx::Conv_1", "onnx::Conv_2"], ["a"], "/conv/Conv"), node("Identity", ["a.weight"], ["b.weight"]),
               node("Mul", ["a", "a.weight"], ["b"]), node("Mul", ["b", "b.weight"], ["y"])],
              [f32("onnx::Conv_1", 4, 2, 1), f32("onnx::Conv_2", 4), f32("a.weight", 4, 1)],
              inputs=[value("x", [2, 2, 5])], outputs=[value("y", [2, 4, 5])])
    m.producer_name = "pytorch"
    good("losses-torchscript", m)
    m = model([node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], "norm")], [tensor(n, np.ones(4, np.float32)) for n in "sbmv"])
    m.producer_name = "pytorch"
    m.graph.node[0].metadata_props.add(key="pkg.torch.onnx.fx_node", value="%g : [num_users=1] = call_function[target=torch.ops.aten._native_batch_norm_legit_functional.default](args = (%x, %p_s, %p_b, %b_m, %b_v, True, 0.1, 1e-05), kwargs = {})")
    good("losses-batch-norm", m)


def state():
    """What a module's state_dict has: other names of tied parameters, persistent buffers; and what it has not."""
    names = ["cls.predictions.decoder.bias", "encoder.embed_tokens.weight"]
    m = model([*chain([*names, "mask", "kept", "le"])[:-1], node("Add", ["t3", "le"], ["t4"], "n4"), node("Gather", ["t4", "index"], ["y"], axis=0)],
              [*(f32(n, 300) for n in names), f32("mask", 4, 300), f32("kept", 4, 300), f32("le", 4, 300), tensor("index", np.array([1, 0, 3, 2]))],
              inputs=[value("x", [4, 300])], outputs=[value("y", [4, 300])])
    for name in names:
        mark(m, name, "PARAMETER")
    for name in "mask", "kept", "index":
        mark(m, name, "BUFFER")
    sign(m, "\n# inputs\n" + "".join(f"p_{i}: PARAMETER target='{n}'\n" for i, n in enumerate(
        ["shared.weight", "decoder.embed_tokens.weight", "cls.predictions.bias", *names]))
        + "b_mask: BUFFER target='mask' persistent=False\nb_kept: BUFFER target='kept' persistent=True\n"
          "b_index: BUFFER target='index' persistent=True\n\n# outputs\ny: USER_OUTPUT\n")
    good("module-state", m)
    names = ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"]
    m = model(chain(names), [f32(n, 4) for n in names])
    for name in names:
        mark(m, name, "PARAMETER")
    sign(m, "\n# inputs\n" + "".join(f"p_{i}: PARAMETER target='{n}'\n" for i, n in enumerate(
        ["shared.weight", "pooler.weight", *names])) + "\n# outputs\ny: USER_OUTPUT\n")
    good("module-state-two", m)


def classification():
    state(), marked(), looks(), statistics(), lost(), merged(), dropped(), torchscript()
