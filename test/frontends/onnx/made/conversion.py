"""What the lit tests convert: control flow, graphs of several forms, single operators."""
import numpy as np
import onnx
from onnx import TensorProto, helper

from made.parts import F32, I64, f32, good, model, node, save, tensor, value


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
    # The bias that PyTorch writes for a convolution without one.
    good("conv-zero-bias", model(
        [node("CastLike", ["zero", "x"], ["z"]), node("Expand", ["z", "channels"], ["b"]), node("Conv", ["x", "w", "b"], ["y"])],
        [tensor("zero", np.float32(0)), c("channels", [2]), f32("w", 2, 1, 3, 3)], inputs=[value("x", [2, 1, 3, 3])], outputs=[value("y", [2, 2, 1, 1])]))
    good("merged-rows-in-order", rows([0, 1, 3, 2]))


def shapes():
    """Shape arithmetic, masks and the names of nodes."""
    c = lambda name, array: tensor(name, np.array(array))
    dynamic = helper.make_tensor_value_info("x", F32, ["batch", 4])
    other = helper.make_tensor_value_info("z", F32, ["batch", 4])
    # Shape arithmetic: [batch, 4] to [batch, 2, 2] by a chain, and a float branch that stays.
    good("shape-chain", model(
        [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["b"]), node("Unsqueeze", ["b", "first"], ["u"]),
         node("Concat", ["u", "two", "two"], ["to"], axis=0), node("Reshape", ["x", "to"], ["r"]), node("Cast", ["b"], ["f"], to=F32),
         node("Sqrt", ["f"], ["q"]), node("Div", ["r", "q"], ["d"]), node("Reshape", ["z", "to"], ["z2"]), node("Add", ["d", "z2"], ["y"])],
        [c("zero", 0), c("first", [0]), c("two", [2])], inputs=[dynamic, other], outputs=[value("y", ["batch", 2, 2])]))
    # Samples that are not along the first dimension, by the names of the dimensions.
    for name, first, second in (("batch-second", 3, "batch_size"), ("batch-unnamed", 3, "tokens"), ("batch-first", "n", "batch_size")):
        others = [value("state", [4, second, 5]), value("mask", [second, 5]), value("whole", [3, 5])] if name == "batch-second" else []
        good(name, model([node("Relu", ["x"], ["y"])], inputs=[value("x", [first, second, 5]), *others], outputs=[value("y", [first, second, 5])]))
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


def batch_norms():
    good("batch-norm", model(
        [node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "m2", "v2"], training_mode=1)],
        [f32("s", 4), f32("b", 4), f32("m", 4), tensor("v", np.ones(4, np.float32))]))
    # As PyTorch's TorchScript exporter writes a module in training mode at opset 13: version 9, with five results.
    trained = model([node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "m2", "v2", "saved_m", "saved_v"])],
                    [f32("s", 4), f32("b", 4), f32("m", 4), tensor("v", np.ones(4, np.float32))], opset=13)
    trained.producer_name = "pytorch"
    good("batch-norm-13", trained)
    # A module that is called twice: both nodes read the initializers, or the second what the first gives; a third that
    # reads what the first gives is behind the second.
    calls = lambda *operands: model(
        [node("BatchNormalization", [x, "s", "b", m, v], [f"y{i}", f"m{i}", f"v{i}"], training_mode=1,
              momentum=[0.75, 0.5, 0.25][i]) for i, (x, m, v) in enumerate(operands)] +
        [node("Sum", [f"y{i}" for i in range(len(operands))], ["y"])],
        [f32("s", 4), f32("b", 4), f32("m", 4), tensor("v", np.ones(4, np.float32))])
    good("batch-norm-twice", calls(("x", "m", "v"), ("y0", "m", "v")))
    good("batch-norm-chained", calls(("x", "m", "v"), ("y0", "m0", "v0")))
    good("batch-norm-behind", calls(("x", "m", "v"), ("y0", "m", "v"), ("y1", "m0", "v0")))
    # PyTorch evaluates with what the call before has moved; ONNX with what the node reads.
    for name, producer in ("batch-norm-evaluated", "pytorch"), ("batch-norm-evaluated-else", "other"):
        evaluated = calls(("x", "m", "v"), ("y0", "m", "v"))
        evaluated.producer_name = producer
        del evaluated.graph.node[1].attribute[:], evaluated.graph.node[1].output[1:]
        good(name, evaluated)
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


def draws():
    """Random numbers, sequences and ops that are exact."""
    c = lambda name, array: tensor(name, np.array(array))
    good("stochastic-depth", model(
        [node("RandomUniformLike", ["like"], ["u"]), node("Less", ["u", "p"], ["k"]), node("Cast", ["k"], ["kf"], to=F32),
         node("Div", ["kf", "p"], ["scale"]), node("Mul", ["x", "scale"], ["y"])],
        [tensor("like", np.zeros((2, 1), np.float32)), tensor("p", np.float32(0.75))]))
    good("other-divisor", model(
        [node("RandomUniformLike", ["like"], ["u"]), node("Less", ["u", "p"], ["k"]), node("Cast", ["k"], ["kf"], to=F32),
         node("Div", ["kf", "q"], ["scale"]), node("Mul", ["x", "scale"], ["y"])],
        [tensor("like", np.zeros((2, 1), np.float32)), tensor("p", np.float32(0.75)), tensor("q", np.float32(0.5))]))
    keep = tensor("p", np.float32(0.75))
    full = tensor("full", np.full((2, 1), 0.75, np.float32))
    # As transformers writes it: x / p * floor(p + u).
    floor = [node("RandomUniform", [], ["u"], shape=[2, 1]), node("Add", ["p", "u"], ["s"]), node("Floor", ["s"], ["m"])]
    good("depth-floor", model([*floor, node("Div", ["x", "p"], ["d"]), node("Mul", ["d", "m"], ["y"])], [keep]))
    good("depth-floor-used", model([*floor, node("Div", ["x", "p"], ["d"]), node("Mul", ["d", "m"], ["e"]), node("Add", ["e", "u"], ["y"])],
                                   [keep]))
    good("drawn-twice", model(
        [node("RandomUniformLike", ["x"], ["u"]), node("RandomUniform", [], ["v"], shape=[2, 4]), node("Less", ["u", "v"], ["k"]),
         node("Cast", ["k"], ["kf"], to=F32), node("Mul", ["x", "kf"], ["y"])]))
    good("drawn-output", model(
        [node("RandomUniformLike", ["like"], ["u"]), node("Less", ["u", "p"], ["k"]), node("Cast", ["k"], ["kf"], to=F32),
         node("Mul", ["x", "kf"], ["y"])],
        [tensor("like", np.zeros((2, 1), np.float32)), keep], outputs=[value("y", [2, 4]), value("u", [2, 1])]))
    drawn = node("Bernoulli", ["full"], ["m"])
    good("depth-after", model([drawn, node("Mul", ["x", "m"], ["d"]), node("Div", ["d", "p"], ["y"])], [keep, full]))
    good("depth-inverse", model([drawn, node("Mul", ["m", "x"], ["d"]), node("Mul", ["q", "d"], ["y"])],
                                [full, tensor("q", np.float32(1 / 0.75))]))
    good("depth-greater", model([node("RandomUniformLike", ["like"], ["u"]), node("Greater", ["u", "q"], ["k"]), node("Cast", ["k"], ["m"], to=F32),
                                 node("Div", ["x", "p"], ["d"]), node("Mul", ["m", "d"], ["y"])],
                                [keep, tensor("q", np.float32(0.25)), tensor("like", np.zeros((2, 1), np.float32))]))
    good("depth-other", model([drawn, node("Mul", ["x", "m"], ["d"]), node("Div", ["d", "q"], ["y"])],
                              [full, tensor("q", np.float32(0.5))]))
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


def refused():
    """Attributes and shapes that contradict each other."""
    c = lambda name, array: tensor(name, np.array(array))
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
    for op, gates, batch, first in ("LSTM", 4, 1, {}), ("GRU", 3, 0, {"layout": 1}):
        x, state = [3, 3, 4], [1, 1, 3]
        x[batch], state[batch] = "batch", 2  # an export that fixes the batch of the first state alone
        save(f"bad-{op.lower()}-batch", model(
            [node(op, ["x", "w", "r", "", "", "h"], ["", "y"], "y_node", hidden_size=3, **first)],
            [f32("w", 1, gates * 3, 4), f32("r", 1, gates * 3, 3), f32("h", *state)], inputs=[value("x", x)], outputs=[value("y", None)]))
    save("bad-rnn-state", model(
        [node("RNN", ["x", "w", "r", "", "", "h"], ["", "y"], "y_node", hidden_size=3)],
        [f32("w", 1, 3, 4), f32("r", 1, 3, 3), f32("h", 1, 2, 5)], inputs=[value("x", [3, 2, 4])], outputs=[value("y", None)]))
    pair = [node("Concat", ["x", "z"], ["c"], axis=0), node("Reshape", ["c", "s"], ["y"])]
    save("two-static-inputs", model(pair, [c("s", [-1, 3])], inputs=[value("x", [2, 3]), value("z", [2, 3])], outputs=[value("y", None)]))
    save("bad-slice", model([node("Slice", ["x", "a", "b", "a", "a"], ["y"])], [c("a", [0]), c("b", [2])]))
    save("bad-axis", model([node("Softmax", ["x"], ["y"], axis=2)]))
    save("bad-perm", model([node("Transpose", ["x"], ["y"], perm=[0, 0])]))
    save("bad-range", model([node("Range", ["a", "b", "c"], ["y"])], [c("a", 0), c("b", 1 << 60), c("c", 1)]))
    save("bad-expand", model([node("Expand", ["x", "s"], ["y"])], [c("s", [1 << 40, 1 << 40, 2, 4])]))
    save("bad-conv", model([node("Conv", ["x", "w"], ["y"], strides=[0, 1])], [f32("w", 2, 4, 3, 3)], inputs=[value("x", [1, 4, 8, 8])]))


def conversion():
    shapes(), batch_norms(), draws(), refused()
