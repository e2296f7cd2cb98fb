#!/usr/bin/env python3
"""Makes the models of Inputs/ that the frontend's tests read. Needs onnx 1.22.0 and numpy; run it in this folder.

Good models are checked by onnx itself; each bad one breaks the one rule its name says.
"""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
os.makedirs(OUT, exist_ok=True)
F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def f32(name, *shape, seed=0):
    return tensor(name, np.random.RandomState(seed + len(name)).randn(*shape).astype(np.float32))


def value(name, shape=(2, 4), type=F32):
    return helper.make_tensor_value_info(name, type, shape)


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or outputs[0] + "_node", **attributes)


def model(nodes, initializers=(), inputs=None, outputs=None, opset=17, ir=8, functions=(), imports=()):
    inputs = [value("x")] if inputs is None else inputs
    outputs = [value("y")] if outputs is None else outputs
    graph = helper.make_graph(list(nodes), "test", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in imports]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions))


def save(name, m):
    data = m if isinstance(m, bytes) else m.SerializeToString()
    with open(os.path.join(OUT, name + ".onnx"), "wb") as f:
        f.write(data)


def good(name, m):
    onnx.checker.check_model(m)
    save(name, m)


relu = lambda: model([node("Relu", ["x"], ["y"])])


def function(name, nodes, inputs, outputs, attributes=(), imports=()):
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(d, 1) for d in imports]
    return helper.make_function("local", name, inputs, outputs, nodes, opsets, attributes)


def files():
    """What the wire scan finds."""
    good("relu", relu())
    data = relu().SerializeToString()
    save("bad-empty", b"")
    save("bad-truncated", data[:-5])
    save("bad-trailing", data + b"\x7f\x7f\x7f")
    save("bad-concatenated", data + data)
    save("bad-text", str(relu()).encode())
    save("bad-unknown-field", data + bytes([15 << 3 | 2, 1]) + b"a")
    nul = relu()
    nul.graph.node[0].name = "a\0b"
    save("bad-nul-in-name", nul)
    save("bad-utf8", data.replace(b"y_node", b"y\xff\xfeode"))
    twice = model([node("Add", ["x", "w"], ["y"])], [f32("w", 2, 4)])
    raw = twice.SerializeToString()
    piece = twice.graph.initializer[0].SerializeToString()
    again = piece + bytes([9 << 3 | 2, 4]) + b"\0\0\0\0"
    # Two raw_data in one tensor: rebuild the lengths around it by hand.
    def field(number, payload):
        n, size = len(payload), b""
        while n > 127:
            size += bytes([n & 127 | 128])
            n >>= 7
        return bytes([number << 3 | 2]) + size + bytes([n]) + payload
    rest = onnx.GraphProto()
    rest.CopyFrom(twice.graph)
    del rest.initializer[:]
    head = onnx.ModelProto()
    head.CopyFrom(twice)
    head.ClearField("graph")
    save("bad-two-raw-data", head.SerializeToString() + field(7, rest.SerializeToString() + field(5, again)))
    deep = field(1, b"")
    for _ in range(120):  # sequence(elem_type(...)) nests two messages a level
        deep = field(4, field(1, deep))
    save("bad-nesting", head.SerializeToString() + field(7, rest.SerializeToString() + field(11, b"\x0a\x01q" + field(2, deep))))
    assert raw


def graphs():
    m = relu()
    m.ClearField("graph")
    save("bad-no-graph", m)
    save("bad-ir-old", model([node("Relu", ["x"], ["y"])], ir=2))
    save("bad-ir-new", model([node("Relu", ["x"], ["y"])], ir=14))
    save("bad-opset-old", model([node("Relu", ["x"], ["y"])], opset=12))
    save("bad-opset-new", model([node("Relu", ["x"], ["y"])], opset=28))
    m = relu()
    m.opset_import.append(helper.make_opsetid("ai.onnx", 18))
    save("bad-opset-twice", m)
    m = relu()
    del m.opset_import[:]
    save("bad-opset-missing", m)
    m = relu()
    m.graph.node[0].domain = "com.other"
    save("bad-domain", m)
    save("bad-ssa", model([node("Relu", ["x"], ["y"], "first"), node("Abs", ["x"], ["y"], "second")]))
    save("bad-defines-input", model([node("Relu", ["x"], ["x"], "again"), node("Abs", ["x"], ["y"])]))
    save("bad-unsorted", model([node("Relu", ["a"], ["y"], "first"), node("Abs", ["x"], ["a"], "second")]))
    save("bad-cycle", model([node("Add", ["x", "b"], ["a"], "one"), node("Abs", ["a"], ["b"], "two"), node("Relu", ["b"], ["y"])]))
    save("bad-dangling", model([node("Add", ["x", "ghost"], ["y"])]))
    save("bad-output", model([node("Relu", ["x"], ["z"])]))
    save("bad-no-outputs", model([node("Relu", ["x"], ["y"])], outputs=[]))
    save("bad-initializer-twice", model([node("Add", ["x", "w"], ["y"])], [f32("w", 4), f32("w", 4)]))
    save("bad-arity", model([node("Add", ["x"], ["y"])]))
    save("bad-attribute-unknown", model([node("Relu", ["x"], ["y"], slope=0.1)]))
    save("bad-loop-body", model([node("Loop", ["", "", "x"], ["y"])]))
    save("bad-withdrawn", model([node("GroupNormalization", ["x", "x", "x"], ["y"], num_groups=2)], opset=18))
    save("bad-dead-node", model([node("Relu", ["x", "x"], ["unused"]), node("Relu", ["x"], ["y"])]))
    # Only at the call it is known that an input, or an attribute, is not given.
    save("bad-function-operand", model(
        [helper.make_node("Call", ["x"], ["y"], "y_node", domain="local")], imports=["local"],
        functions=[function("Call", [node("Add", ["a", "b"], ["c"], "inner")], ["a", "b"], ["c"])]))
    cast = node("Cast", ["a"], ["c"], "inner")
    cast.attribute.append(onnx.AttributeProto(name="to", type=onnx.AttributeProto.INT, ref_attr_name="kind"))
    save("bad-function-attribute", model(
        [helper.make_node("Call", ["x"], ["y"], "y_node", domain="local")], imports=["local"],
        functions=[function("Call", [cast], ["a"], ["c"], ["kind"])]))
    save("bad-unsupported", model([node("Det", ["x"], ["a"], "d1"), node("Det", ["a"], ["b"], "d2"), node("NonMaxSuppression", ["b", "b"], ["y"], "n")]))
    m = relu()
    m.graph.node[0].attribute.extend([helper.make_attribute("axis", 1), helper.make_attribute("axis", 2)])
    save("bad-attribute-twice", m)
    m = relu()
    a = helper.make_attribute("axis", 1)
    a.type = onnx.AttributeProto.FLOAT
    m.graph.node[0].attribute.append(a)
    save("bad-attribute-type", m)
    m = relu()
    a = helper.make_attribute("axis", 1)
    a.ref_attr_name = "outside"
    m.graph.node[0].attribute.append(a)
    save("bad-attribute-reference", m)
    save("bad-attribute-missing", model([node("Cast", ["x"], ["y"])]))
    m = model([node("Relu", ["x"], ["y"])], inputs=[helper.make_tensor_sequence_value_info("x", F32, [2])])
    save("bad-sequence-input", m)
    m = relu()
    m.graph.sparse_initializer.append(helper.make_sparse_tensor(f32("s", 1), tensor("i", np.array([0])), [4]))
    save("bad-sparse", m)
    body = helper.make_graph([node("Relu", ["nowhere"], ["r"])], "b", [], [value("r")])
    save("bad-subgraph-capture", model([node("If", ["c"], ["y"], then_branch=body, else_branch=body)], [tensor("c", np.array(True))]))


def functions():
    double = function("Double", [node("Add", ["a", "a"], ["b"])], ["a"], ["b"])
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"], name="inner")
    leaky.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    scaled = function("Scaled", [leaky], ["a"], ["b"], ["slope"])
    twice = function("Twice", [helper.make_node("Double", ["a"], ["m"], domain="local", name="d"),
                               helper.make_node("Double", ["m"], ["b"], domain="local", name="d")], ["a"], ["b"], imports=["local"])
    call = lambda f, i, o, **k: helper.make_node(f, i, o, domain="local", name="call_" + f, **k)
    good("functions", model([call("Twice", ["x"], ["h"]), call("Scaled", ["h"], ["y"], slope=0.5)],
                            functions=[double, scaled, twice], imports=["local"]))
    me = function("Me", [call("Me", ["a"], ["b"])], ["a"], ["b"], imports=["local"])
    save("bad-recursion", model([call("Me", ["x"], ["y"])], functions=[me], imports=["local"]))
    ping = function("Ping", [call("Pong", ["a"], ["b"])], ["a"], ["b"], imports=["local"])
    pong = function("Pong", [call("Ping", ["a"], ["b"])], ["a"], ["b"], imports=["local"])
    save("bad-mutual-recursion", model([call("Ping", ["x"], ["y"])], functions=[ping, pong], imports=["local"]))
    chain = [function("F0", [node("Relu", ["a"], ["b"])], ["a"], ["b"])]
    for i in range(1, 120):
        chain.append(function(f"F{i}", [call(f"F{i - 1}", ["a"], ["b"])], ["a"], ["b"], imports=["local"]))
    save("bad-call-depth", model([call("F119", ["x"], ["y"])], functions=chain, imports=["local"]))
    grow = [function("F0", [node("Relu", ["a"], ["b"])], ["a"], ["b"])]
    for i in range(1, 30):  # 2^30 nodes
        grow.append(function(f"F{i}", [call(f"F{i - 1}", ["a"], ["m"]), call(f"F{i - 1}", ["m"], ["b"])], ["a"], ["b"], imports=["local"]))
    save("bad-expansion", model([call("F29", ["x"], ["y"])], functions=grow, imports=["local"]))
    save("bad-function-twice", model([call("Double", ["x"], ["y"])], functions=[double, double], imports=["local"]))
    save("bad-function-arity", model([call("Double", ["x", "x"], ["y"])], functions=[double], imports=["local"]))
    good("identity", model([node("Identity", ["w"], ["w2"]), node("Add", ["x", "w"], ["a"]), node("Mul", ["a", "w2"], ["y"])], [f32("w", 4)]))


def tensors():
    def with_tensor(t):
        return model([node("Add", ["x", "w"], ["y"])], [t])

    def typed(**k):
        t = TensorProto(name="w", data_type=F32, dims=[4])
        for key, v in k.items():
            if isinstance(v, list):
                del getattr(t, key)[:]
                getattr(t, key).extend(v)
            else:
                setattr(t, key, v)
        return t

    good("typed-data", with_tensor(typed(float_data=[1.0, 2.0, 3.0, 4.0])))
    save("bad-raw-size", with_tensor(typed(raw_data=b"\0" * 15)))
    save("bad-count", with_tensor(typed(float_data=[1.0] * 3)))
    save("bad-raw-and-typed", with_tensor(typed(raw_data=b"\0" * 16, float_data=[1.0] * 4)))
    save("bad-two-typed", with_tensor(typed(int64_data=[1] * 4, float_data=[1.0] * 4)))
    save("bad-wrong-field", with_tensor(typed(int64_data=[1] * 4)))
    save("bad-negative-dim", with_tensor(typed(dims=[-4], float_data=[1.0] * 4)))
    save("bad-overflow", with_tensor(typed(dims=[1 << 40, 1 << 40])))
    save("bad-byte-overflow", with_tensor(typed(dims=[1 << 62])))
    save("bad-rank", with_tensor(typed(dims=[1] * 65, float_data=[1.0])))
    save("bad-data-type", with_tensor(typed(data_type=77)))
    save("bad-string", with_tensor(typed(data_type=TensorProto.STRING, string_data=[b"a"] * 4)))
    save("bad-float8", with_tensor(typed(data_type=TensorProto.FLOAT8E4M3FN, raw_data=b"\0" * 4)))
    save("bad-narrow", with_tensor(typed(data_type=TensorProto.INT8, int32_data=[1, 2, 3, 400])))


def external():
    def located(**keys):
        t = TensorProto(name="w", data_type=F32, dims=[4], data_location=TensorProto.EXTERNAL)
        for key, v in keys.items():
            t.external_data.add(key=key, value=str(v))
        return model([node("Add", ["x", "w"], ["y"])], [t])

    with open(os.path.join(OUT, "weights.bin"), "wb") as f:
        f.write(b"\0" * 4 + np.arange(1, 6, dtype=np.float32).tobytes() + b"\0\0")
    save("external", located(location="weights.bin", offset=4, length=16))
    save("external-unaligned", located(location="weights.bin", offset=6, length=16))
    save("bad-external-missing", located(location="nowhere.bin"))
    save("bad-external-absolute", located(location="/etc/passwd"))
    save("bad-external-parent", located(location="../make_inputs.py"))
    save("bad-external-inner-parent", located(location="a/../weights.bin"))
    save("bad-external-backslash", located(location="a\\weights.bin"))
    save("bad-external-drive", located(location="C:weights.bin"))
    save("bad-external-empty", located(location=""))
    save("bad-external-no-location", located(offset=0))
    save("bad-external-directory", located(location="folder"))
    save("bad-external-symlink", located(location="link.bin"))
    save("bad-external-symlink-folder", located(location="linked/weights.bin"))
    save("bad-external-hardlink", located(location="hard.bin"))
    save("bad-external-fifo", located(location="fifo"))
    save("bad-external-negative", located(location="weights.bin", offset=-4, length=16))
    save("bad-external-number", located(location="weights.bin", offset="0x4", length=16))
    save("bad-external-huge", located(location="weights.bin", offset="99999999999999999999", length=16))
    save("bad-external-end", located(location="weights.bin", offset=16, length=16))
    save("bad-external-length", located(location="weights.bin", offset=0, length=8))
    save("bad-external-key", located(location="weights.bin", colour="blue"))
    save("bad-external-checksum", located(location="weights.bin", checksum="0" * 40))


def classification():
    """One initializer a rule of Classify.h; names say what they are."""
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

    # Marks, folds and names of a dynamo export.
    names = ["marked", "marked_buffer", "marked_constant", "folded_parameter", "folded_buffer", "lost.mark", "lost.buffer", "taken", "spare", "standardized"]
    m = model(chain(names), [f32(n, 4, seed=i) for i, n in enumerate(names)])
    mark(m, "marked", "PARAMETER"), mark(m, "marked_buffer", "BUFFER"), mark(m, "marked_constant", "CONSTANT_TENSOR")
    folded(m, "folded_parameter", ["val_1", "a.weight"]), folded(m, "folded_buffer", ["a.buffer", "val_3"]), folded(m, "standardized", ["g.gain", "g.weight", "val_9"])
    sign(m, "\n# inputs\np_marked: PARAMETER target='marked'\np_a: PARAMETER target='a.weight'\nb_a: BUFFER target='a.buffer'\n"
            "p_lost: PARAMETER target='lost.mark'\nb_lost: BUFFER target='lost.buffer'\np_taken: PARAMETER target='m.taken'\np_gg: PARAMETER target='g.gain'\np_gw: PARAMETER target='g.weight'\nx: USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n")
    m.graph.node[7].metadata_props.add(key="pkg.torch.onnx.fx_node", value="%n7 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%t6, %p_taken), kwargs = {})")
    good("classify-dynamo", m)

    # Looks, without metadata.
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

    # BatchNormalization: statistics, and a neutral affine part of TorchScript's affine=False.
    m = model([node("BatchNormalization", ["x", "onnx::BatchNormalization_1", "onnx::BatchNormalization_2", "running_m", "running_v"], ["a", "m1", "v1"], training_mode=1),
               node("Relu", ["a"], ["y"])],
              [tensor("onnx::BatchNormalization_1", np.ones(4, np.float32)), tensor("onnx::BatchNormalization_2", np.zeros(4, np.float32)),
               tensor("running_m", np.zeros(4, np.float32)), tensor("running_v", np.ones(4, np.float32))])
    m.producer_name = "pytorch"
    good("classify-batch-norm", m)

    # What exports lose.
    m = model([node("MatMul", ["x", "val_1"], ["a"]), node("Add", ["a", "tied"], ["b"]), node("Mul", ["b", "ln1"], ["c"]), node("Mul", ["c", "ln1"], ["d"]),
               node("Add", ["d", "val_2"], ["y"])],
              [f32("val_1", 4, 4), f32("tied", 4), f32("ln1", 4), f32("val_2", 4)])
    mark(m, "tied", "PARAMETER"), mark(m, "ln1", "PARAMETER")
    folded(m, "val_1", ["fc.weight"]), folded(m, "val_2", ["tied"])
    sign(m, "\n# inputs\np_fc: PARAMETER target='fc.weight'\np_tied: PARAMETER target='tied'\np_ln1: PARAMETER target='ln1'\np_ln2: PARAMETER target='ln2'\n"
            "p_gone: PARAMETER target='gone'\n\n# outputs\ny: USER_OUTPUT\n")
    m.graph.node[3].metadata_props.add(key="pkg.torch.onnx.fx_node", value="%d : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%c, %p_ln2), kwargs = {})")
    good("losses-dynamo", m)
    # Two normalisations whose weights and biases are equal; one whose bias the exporter dropped; a convolution that a BatchNorm is folded into.
    m = model([node("LayerNormalization", ["x", "n1.weight", "n1.bias"], ["a"]), node("LayerNormalization", ["a", "n1.weight", "n1.bias"], ["b"]),
               node("LayerNormalization", ["b", "n1.weight"], ["d"]), node("Conv", ["d", "conv.weight"], ["y"])],
              [f32("n1.weight", 4), f32("n1.bias", 4), f32("conv.weight", 2, 3, 1)],
              inputs=[value("x", [2, 3, 4])], outputs=[value("y", [2, 2, 4])])
    for name in "n1.weight", "n1.bias", "conv.weight":
        mark(m, name, "PARAMETER")
    sign(m, "\n# inputs\n" + "".join(f"p_{t.replace('.', '_')}: PARAMETER target='{t}'\n" for t in (
        "n1.weight", "n1.bias", "n2.weight", "n2.bias", "n3.bias", "n3.weight", "conv.weight", "bn.weight", "bn.bias"))
        + "\n# outputs\ny: USER_OUTPUT\n")
    fx = lambda i, text: m.graph.node[i].metadata_props.add(key="pkg.torch.onnx.fx_node", value="%t : [num_users=1] = call_function[target=torch.ops.aten." + text)
    fx(0, "layer_norm.default](args = (%x, [4], %p_n1_weight, %p_n1_bias), kwargs = {})")
    fx(1, "layer_norm.default](args = (%a, [4], %p_n2_weight, %p_n2_bias), kwargs = {})")
    fx(2, "layer_norm.default](args = (%b, [4], %p_n3_weight, %p_n3_bias), kwargs = {})")
    fx(3, "_native_batch_norm_legit_no_training.default](args = (%conv, %p_bn_weight, %p_bn_bias, %b_m, %b_v, 0.1, 1e-05), kwargs = {})")
    m.graph.node[3].metadata_props.add(key="pkg.onnxscript.rewriter.rule_name", value="FuseBatchNormIntoConv")
    good("losses-merged", m)
    # Biases of zeros that the exporter dropped: one number for each channel of the result, which a weight has elsewhere in each operator.
    m = model([node("ConvTranspose", ["x", "up.weight"], ["a"], group=2), node("Conv", ["a", "down.weight"], ["y"], group=2)],
              [f32("up.weight", 4, 3, 1), f32("down.weight", 8, 3, 1)],
              inputs=[value("x", [2, 4, 5])], outputs=[value("y", [2, 8, 5])])
    names = [f"{layer}.{kind}" for layer in ("up", "down") for kind in ("weight", "bias")]
    sign(m, "\n# inputs\n" + "".join(f"p_{t.replace('.', '_')}: PARAMETER target='{t}'\n" for t in names) + "\n# outputs\ny: USER_OUTPUT\n")
    fx(0, "convolution.default](args = (%x, %p_up_weight, %p_up_bias, [1], [0], [1], True, [0], 2), kwargs = {})")
    fx(1, "convolution.default](args = (%a, %p_down_weight, %p_down_bias, [1], [0], [1], False, [0], 2), kwargs = {})")
    for i, layer in enumerate(("up", "down")):
        mark(m, f"{layer}.weight", "PARAMETER")
        m.graph.node[i].metadata_props.add(key="pkg.onnxscript.rewriter.rule_name", value="RemoveOptionalBiasFromConv" + ("Transpose" if i == 0 else ""))
    good("dropped-biases", m)
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


def control():
    """Control flow that shapes decide, and control flow that data would decide."""
    c = lambda name, array: tensor(name, np.array(array))
    scalar = lambda name, type: helper.make_tensor_value_info(name, type, [])
    body = lambda op: helper.make_graph([node(op, ["x"], ["r"])], op, [], [value("r")])
    branches = dict(then_branch=body("Relu"), else_branch=body("Abs"))
    good("if", model([node("Shape", ["x"], ["s"], start=0, end=1), node("Squeeze", ["s"], ["n"]), node("Equal", ["n", "two"], ["q"]),
                      node("If", ["q"], ["y"], **branches)], [c("two", 2)]))
    save("bad-if", model([node("ReduceSum", ["x"], ["t"], keepdims=0), node("Cast", ["t"], ["q"], to=TensorProto.BOOL),
                          node("If", ["q"], ["y"], **branches)]))
    # Carries v = v + x and stacks each v; x is captured.
    step = lambda condition: helper.make_graph(
        [node("Add", ["v", "x"], ["w"]), *condition, node("Identity", ["w"], ["u"])], "step",
        [scalar("i", I64), scalar("go", TensorProto.BOOL), value("v")], [scalar("more", TensorProto.BOOL), value("w"), value("u")])
    three = [value("y"), value("z", [3, 2, 4])]
    known = [node("Less", ["i", "two"], ["more"])]
    good("loop", model([node("Loop", ["", "", "x"], ["y", "z"], body=step(known))], [c("two", 2)], outputs=three))
    unknown = [node("ReduceSum", ["w"], ["t"], keepdims=0), node("Cast", ["t"], ["more"], to=TensorProto.BOOL)]
    save("bad-loop", model([node("Loop", ["", "", "x"], ["y", "z"], body=step(unknown))], outputs=three))
    save("bad-loop-long", model([node("Loop", ["many", "", "x"], ["y", "z"], body=step([node("Identity", ["go"], ["more"])]))], [c("many", 1 << 50)], outputs=three))
    # As PyTorch's default exporter writes EmbeddingBag.
    append = helper.make_graph(
        [node("Neg", ["v"], ["w"]), node("SequenceInsert", ["q", "w"], ["r"]), node("Less", ["i", "two"], ["more"])], "append",
        [scalar("i", I64), scalar("go", TensorProto.BOOL), value("v"), helper.make_tensor_sequence_value_info("q", F32, [2, 4])],
        [scalar("more", TensorProto.BOOL), value("w"), helper.make_tensor_sequence_value_info("r", F32, [2, 4])])
    good("loop-sequence", model(
        [node("SequenceEmpty", [], ["none"]), node("Loop", ["", "", "x", "none"], ["last", "all"], body=append),
         node("ConcatFromSequence", ["all"], ["y"], axis=0)], [c("two", 2)], outputs=[value("y", [6, 4])]))
    # From the last row of x to the first.
    row = helper.make_graph([node("Add", ["v", "e"], ["w"]), node("Neg", ["w"], ["u"])], "row",
                            [value("v", [4]), value("e", [4])], [value("w", [4]), value("u", [4])])
    good("scan", model([node("Scan", ["zero", "x"], ["last", "y"], body=row, num_scan_inputs=1, scan_input_directions=[1])],
                       [tensor("zero", np.zeros(4, np.float32))]))
    save("bad-nonzero", model([node("NonZero", ["x"], ["y"])], outputs=[value("y", [2, 3], I64)]))


def one_form():
    """Graphs that exporters write in several ways."""
    c = lambda name, array: tensor(name, np.array(array))
    good("gather-rows", model([node("Gather", ["w", "i"], ["y"])], [f32("w", 6, 4), c("i", [[1, 3, 5], [1, 3, 5]])], outputs=[value("y", [2, 3, 4])]))
    good("gather-mixed", model([node("Gather", ["w", "i"], ["y"])], [f32("w", 6, 4), c("i", [0, 3, 1])], outputs=[value("y", [3, 4])]))
    # Positions counted in floats, as a sum over ones.
    good("counted", model([node("CumSum", ["ones", "axis"], ["n"]), node("Sub", ["n", "one"], ["p"]), node("Cast", ["p"], ["i"], to=I64),
                           node("Gather", ["w", "i"], ["y"])],
                          [tensor("ones", np.ones((2, 3), np.float32)), c("axis", 1), tensor("one", np.float32(1)), f32("w", 6, 4)], outputs=[value("y", [2, 3, 4])]))
    # A mask by comparing positions that were repeated before.
    good("compared-positions", model(
        [node("Expand", ["p", "to"], ["e"]), node("Unsqueeze", ["e", "last"], ["r"]), node("Unsqueeze", ["e", "middle"], ["q"]),
         node("LessOrEqual", ["q", "r"], ["m"]), node("Where", ["m", "x", "hidden"], ["y"])],
        [c("p", np.arange(3)), c("to", [2, 3]), c("last", [2]), c("middle", [1]), tensor("hidden", np.float32(-1))],
        inputs=[value("x", [2, 3, 3])], outputs=[value("y", [2, 3, 3])]))
    merged = lambda other: model(
        [node("Reshape", ["x", "a"], ["l"]), node("Reshape", ["z", "b"], ["r"]), node("MatMul", ["l", "r"], ["m"]), node("Reshape", ["m", "back"], ["y"])],
        [c("a", [6, 4, 5]), c("b", [6, 5, 4]), c("back", [2, 3, 4, 4])], inputs=[value("x", [2, 3, 4, 5]), value("z", other)], outputs=[value("y", [2, 3, 4, 4])])
    good("merged-batch", merged([2, 3, 5, 4]))
    good("merged-otherwise", merged([3, 2, 5, 4]))
    # Rows of a linear layer: (T, B) merged after a transposition, or (B, T) as they were.
    rows = lambda perm: model(
        [node("Transpose", ["x"], ["t"], perm=perm), node("Reshape", ["t", "rows"], ["r"]), node("Gemm", ["r", "w", "b"], ["g"]),
         node("Reshape", ["g", "apart"], ["y"])],
        [c("rows", [-1, 4]), f32("w", 4, 5), f32("b", 5), c("apart", [[6, 3][p] for p in perm[:2]] + [5])],
        inputs=[value("x", [6, 3, 2, 2])], outputs=[value("y", [[6, 3][p] for p in perm[:2]] + [5])])
    good("merged-rows", rows([1, 0, 2, 3]))
    good("merged-rows-in-order", rows([0, 1, 3, 2]))


def conversion():
    """What the lit tests convert."""
    c = lambda name, array: tensor(name, np.array(array))
    dynamic = helper.make_tensor_value_info("x", F32, ["batch", 4])
    other = helper.make_tensor_value_info("z", F32, ["batch", 4])
    # Shape arithmetic: [batch, 4] to [batch, 2, 2] by a chain, and a float branch that stays.
    good("shape-chain", model(
        [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["b"]), node("Unsqueeze", ["b", "first"], ["u"]),
         node("Concat", ["u", "two", "two"], ["to"], axis=0), node("Reshape", ["x", "to"], ["r"]), node("Cast", ["b"], ["f"], to=F32),
         node("Sqrt", ["f"], ["q"]), node("Div", ["r", "q"], ["d"]), node("Reshape", ["z", "to"], ["z2"]), node("Add", ["d", "z2"], ["y"])],
        [c("zero", 0), c("first", [0]), c("two", [2])], inputs=[dynamic, other], outputs=[value("y", ["batch", 2, 2])]))
    # As TorchScript writes the side of a square of positions.
    good("shape-root", model(
        [node("Pow", ["count", "half"], ["p"]), node("Cast", ["p"], ["side"], to=I64), node("Unsqueeze", ["side", "first"], ["u"]),
         node("Concat", ["one", "u", "u"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])],
        [tensor("count", np.float32(4)), tensor("half", np.float32(0.5)), c("first", [0]), c("one", [1])],
        inputs=[value("x", [4])], outputs=[value("y", [1, 2, 2])]))
    mask = np.broadcast_to(np.where(np.tril(np.ones((4, 4))), 0, -1e9).astype(np.float32), (2, 4, 4))
    good("mask", model([node("Add", ["x", "mask"], ["y"])], [tensor("mask", mask)], inputs=[value("x", [2, 4, 4])], outputs=[value("y", [2, 4, 4])]))
    located = model([node("Relu", ["x"], ["a"], "/block/act/Relu"), node("Abs", ["a"], ["y"], "node_abs")])
    located.graph.node[1].metadata_props.add(key="pkg.torch.onnx.name_scopes", value="['', 'm', 'm.head', 'abs']")
    good("locations", located)
    good("batch-norm", model(
        [node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "m2", "v2"], training_mode=1)],
        [f32("s", 4), f32("b", 4), f32("m", 4), tensor("v", np.ones(4, np.float32))]))
    # As PyTorch's TorchScript exporter writes a module in training mode at opset 13: version 9, with five results.
    trained = model([node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "m2", "v2", "saved_m", "saved_v"])],
                    [f32("s", 4), f32("b", 4), f32("m", 4), tensor("v", np.ones(4, np.float32))], opset=13)
    trained.producer_name = "pytorch"
    good("batch-norm-13", trained)
    for results in 3, 5:
        save(f"bad-batch-norm-{results}", model(
            [node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "m2", "v2", "m3", "v3"][:results])],
            [f32(name, 4) for name in "sbmv"], opset=13 if results == 3 else 14))
    for name, made in {"bad-types": node("Add", ["x", "w"], ["y"]), "bad-element-type": node("Not", ["x"], ["y"]),
                       "bad-result-type": node("EyeLike", ["x"], ["y"], dtype=onnx.TensorProto.BFLOAT16)}.items():
        save(name, model([made], [tensor("w", np.ones(4))]))
    save("bad-merged-statistic", model(
        [node("BatchNormalization", ["x", "one", "b", "m", "one"], ["y", "m2", "v2"], training_mode=1)],
        [tensor("one", np.ones(4, np.float32)), f32("b", 4), f32("m", 4)]))
    good("stochastic-depth", model(
        [node("RandomUniformLike", ["like"], ["u"]), node("Less", ["u", "p"], ["k"]), node("Cast", ["k"], ["kf"], to=F32),
         node("Div", ["kf", "p"], ["scale"]), node("Mul", ["x", "scale"], ["y"])],
        [tensor("like", np.zeros((2, 1), np.float32)), tensor("p", np.float32(0.75))]))
    good("other-divisor", model(
        [node("RandomUniformLike", ["like"], ["u"]), node("Less", ["u", "p"], ["k"]), node("Cast", ["k"], ["kf"], to=F32),
         node("Div", ["kf", "q"], ["scale"]), node("Mul", ["x", "scale"], ["y"])],
        [tensor("like", np.zeros((2, 1), np.float32)), tensor("p", np.float32(0.75)), tensor("q", np.float32(0.5))]))
    save("sequence", model(
        [node("SplitToSequence", ["x", "two"], ["q"], axis=1), node("SequenceAt", ["q", "one"], ["y"])],
        [c("two", 2), c("one", 1)], outputs=[value("y", [2, 2])]))
    good("data-operands", model(
        [node("BatchNormalization", ["x", "s", "s", "m", "v"], ["n", "m2", "v2"], training_mode=1),
         node("CumSum", ["n", "axis"], ["a"]), node("Trilu", ["a", "k"], ["t"]), node("Gather", ["t", "i"], ["y"], axis=1)],
        [f32("s", 4)], inputs=[value("x"), value("m", [4]), value("v", [4]), value("axis", [], I64), value("k", [], I64),
                               value("i", [3], I64)],
        outputs=[value("y", [2, 3]), value("m2", [4])]))
    good("random", model(
        [node("RandomNormalLike", ["x"], ["n"], mean=0.5, scale=2.0), node("RandomUniformLike", ["x"], ["u"], low=-1.0),
         node("RandomNormal", [], ["m"], shape=[2, 4]), node("RandomUniform", [], ["v"], shape=[2, 4]),
         node("Less", ["v", "x"], ["k"]), node("Cast", ["k"], ["kf"], to=F32), node("Bernoulli", ["x"], ["b"]),
         node("Sum", ["n", "u", "m", "kf", "b"], ["y"])]))
    good("exact", model(
        [node("AveragePool", ["x"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1), node("HardSwish", ["a"], ["b"]),
         node("Resize", ["b", "", "", "sizes"], ["y"], mode="linear")], [c("sizes", [1, 1, 2, 3])],
        inputs=[value("x", [1, 1, 2, 7])], outputs=[value("y", [1, 1, 2, 3])]))
    good("exact-attention", model(
        [node("Attention", ["x", "x", "x"], ["y"])], inputs=[value("x", [1, 1, 2, 5])], outputs=[value("y", [1, 1, 2, 5])], opset=23, ir=10))
    for name, extent in ("max-pool-ceil", 2), ("bad-max-pool-ceil", 1):
        save(name, model([node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)],
                         inputs=[value("x", [1, 1, extent, 5])], outputs=[value("y", [1, 1, 1, 2])]))
    save("bad-random-type", model([node("RandomNormalLike", ["x"], ["y"], dtype=I64)], outputs=[value("y", type=I64)]))
    save("bad-no-elements", model([node("Slice", ["x", "a", "a", "b"], ["y"])], [c("a", [2]), c("b", [1])], outputs=[value("y", [2, 0])]))
    save("bad-no-elements-input", model([node("Relu", ["x"], ["y"])], inputs=[value("x", [0, 4])], outputs=[value("y", [0, 4])]))
    save("bad-matmul", model([node("MatMul", ["x", "w"], ["y"])], [f32("w", 3, 4)]))
    save("bad-gather", model([node("Gather", ["x", "i"], ["y"])], [c("i", [0, 7])]))
    save("bad-reshape", model([node("Reshape", ["x", "s"], ["y"])], [c("s", [-1, -1])]))
    save("bad-reshape-batch", model([node("Reshape", ["x", "s"], ["y"])], [c("s", [2, 2, 2])]))
    save("bad-slice", model([node("Slice", ["x", "a", "b", "a", "a"], ["y"])], [c("a", [0]), c("b", [2])]))
    save("bad-axis", model([node("Softmax", ["x"], ["y"], axis=2)]))
    save("bad-perm", model([node("Transpose", ["x"], ["y"], perm=[0, 0])]))
    save("bad-range", model([node("Range", ["a", "b", "c"], ["y"])], [c("a", 0), c("b", 1 << 60), c("c", 1)]))
    save("bad-expand", model([node("Expand", ["x", "s"], ["y"])], [c("s", [1 << 40, 1 << 40, 2, 4])]))
    save("bad-conv", model([node("Conv", ["x", "w"], ["y"], strides=[0, 1])], [f32("w", 2, 4, 3, 3)], inputs=[value("x", [1, 4, 8, 8])]))


conversion(), control(), one_form(), files(), graphs(), functions(), tensors(), external(), classification()
