"""Files that break the format: what the wire scan and the checks of graphs, functions and tensors find."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper

from made.parts import F32, OUT, f32, function, good, model, node, relu, save, tensor, value


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
    save("bad-dangling-one", model([node("Add", ["x", "w"], ["a"]), node("Add", ["a", "ghost"], ["y"])], [f32("w", 4)]))
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
