#ifndef DPC_DIALECTS_NN_IR_NNATTRS_TD
#define DPC_DIALECTS_NN_IR_NNATTRS_TD

include "dialects/NN/IR/NNDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def NN_ArgKind : I32EnumAttr<"ArgKind", "What a function argument is", [
  I32EnumAttrCase<"parameter", 0>, // a parameter, which is trained
  I32EnumAttrCase<"buffer", 1>,    // a step updates it without a gradient: running statistics
  I32EnumAttrCase<"constant", 2>,  // a constant that is too large for the text of the program
  I32EnumAttrCase<"optimizer", 3>, // optimizer state, e.g. a moment of a parameter
  I32EnumAttrCase<"input", 4>,     // a graph input
  I32EnumAttrCase<"label", 5>,     // the label of a loss that is not in the graph
  I32EnumAttrCase<"control", 6>,   // a host scalar: step, seed, learning_rate, valid_rows
]> {
  let cppNamespace = "::dpc::nn";
  let genSpecializedAttr = 0;
}

def NN_ResultKind : I32EnumAttr<"ResultKind", "What a function result is", [
  I32EnumAttrCase<"output", 0>, // a graph output
  I32EnumAttrCase<"state", 1>,  // the new value of the state argument of the same name
  I32EnumAttrCase<"metric", 2>, // a scalar that the log shows: loss, accuracy
  I32EnumAttrCase<"gradient", 3>, // the gradient of the parameter of the same name
]> {
  let cppNamespace = "::dpc::nn";
  let genSpecializedAttr = 0;
}

class NN_Attr<string name, string mnemonicName> : AttrDef<NN_Dialect, name> {
  let mnemonic = mnemonicName;
}

def NN_ArgAttr : NN_Attr<"Arg", "arg"> {
  let summary = "Kind and name of a function argument";
  let description = [{
    `kind` is one of

    * `parameter`: a parameter that is trained;
    * `buffer`: state that a step updates without a gradient, such as running
      statistics;
    * `constant`: a constant that is too large for the text of the program;
    * `optimizer`: a moment that the optimizer keeps for the parameter `of`, or state
      that belongs to no parameter;
    * `input`: an input of the ONNX graph;
    * `label`: the labels of a loss that dpc adds (`--loss`), because the ONNX graph
      has no loss;
    * `control`: a scalar that the host passes: `step`, `seed`, `learning_rate`
      or `valid_rows`.

    The first four kinds are state. The `name` of state is the name of the
    `nn.variable` that has its initial value. The `name` of an input is its ONNX
    name. `batch` is the dimension that counts samples, or -1 for an input that is
    the same array in all steps.

    ```mlir
    func.func @forward(%w: tensor<4x4xf32> {nn.arg = #nn.arg<parameter "fc.weight">},
                       %x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) {
      return
    }
    ```
  }];
  let parameters = (ins EnumParameter<NN_ArgKind>:$kind,
                        StringRefParameter<>:$name,
                        DefaultValuedParameter<"int64_t", "-1">:$batch,
                        StringRefParameter<"", [{""}]>:$of);
  let assemblyFormat = "`<` $kind $name (`,` struct($batch, $of)^)? `>`";
}

def NN_ResultAttr : NN_Attr<"Result", "result"> {
  let summary = "Kind and name of a function result";
  let description = [{
    `kind` is one of

    * `output`: an output of the ONNX graph;
    * `state`: the new value of the state argument of the same name;
    * `metric`: a scalar that the log shows, such as the loss;
    * `gradient`: the gradient of the parameter of the same name. Level `step` has no
      results of this kind.

    ```mlir
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
        -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
      return %w : tensor<4xf32>
    }
    ```
  }];
  let parameters = (ins EnumParameter<NN_ResultKind>:$kind,
                        StringRefParameter<>:$name);
  let assemblyFormat = "`<` $kind $name `>`";
}

def NN_DecayKind : I32EnumAttr<"DecayKind", "How the learning rate falls after the warm-up", [
  I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"linear", 1>,
  I32EnumAttrCase<"cosine", 2>,
]> {
  let cppNamespace = "::dpc::nn";
  let genSpecializedAttr = 0;
}

def NN_LearningRateAttr : NN_Attr<"LearningRate", "learning_rate"> {
  let summary = "The learning rate as a function of the step";
  let description = [{
    After s steps, the rate is base * s / warmup while s < warmup. Then it falls from
    `base` to `minimum`, linearly or along half a cosine. It reaches `minimum` at
    step `total`, and stays there. With `constant` it stays at `base`. A `total` of 0
    means the number of steps of the run, which only the host knows. If `warmup_ppm`
    is given, it replaces `warmup`: the warm-up takes this many millionths of the
    total, rounded up to a complete step. The host computes the rate before each
    step, and passes it in the control `learning_rate`.

    ```mlir
    module attributes {nn.learning_rate = #nn.learning_rate<base = 0.1 : f64, decay = cosine,
        warmup = 10, total = 100, minimum = 0.0 : f64>} {}
    ```
  }];
  let parameters = (ins "::mlir::FloatAttr":$base, EnumParameter<NN_DecayKind>:$decay,
                        "int64_t":$warmup, "int64_t":$total,
                        "::mlir::FloatAttr":$minimum,
                        DefaultValuedParameter<"int64_t", "0">:$warmup_ppm);
  let assemblyFormat = "`<` struct(params) `>`";
}

def NN_LossAttr : NN_Attr<"Loss", "loss"> {
  let summary = "The loss of a training program";
  let description = [{
    `kind` is the kind of the loss, e.g. `cross-entropy`, or `in graph` if the ONNX
    graph itself computes the loss. `output` is the graph output from which the loss is
    computed, and `type` is the type of this output. `classAxis` is the dimension of the
    output that has the classes of a cross-entropy. `dpc-add-loss` sets the attribute.
    The host derives the allowed labels from the attribute; reports use it too.

    ```mlir
    module attributes {nn.loss = #nn.loss<"cross-entropy" of "logits" : tensor<8x6x5xf32>, classAxis = 2>} {}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$kind, StringRefParameter<>:$output,
                        "::mlir::RankedTensorType":$type,
                        DefaultValuedParameter<"int64_t", "-1">:$classAxis);
  let assemblyFormat = "`<` $kind `of` $output `:` $type (`,` struct($classAxis)^)? `>`";
}

def NN_OptimizerAttr : NN_Attr<"Optimizer", "optimizer"> {
  let summary = "The optimizer of a training program";
  let description = [{
    `options` has a number for each option, given by the user or default. `groups`
    has one line of text for each parameter group that has options of its own.
    `dpc-apply-optimizer` sets the attribute for reports.

    ```mlir
    module attributes {nn.optimizer = #nn.optimizer<"sgd", options = {lr = 0.1}, groups = []>} {}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::DictionaryAttr":$options,
                        "::mlir::ArrayAttr":$groups);
  let assemblyFormat = "`<` $name `,` struct($options, $groups) `>`";
}

def NN_Comparison : I32EnumAttr<"Comparison", "An ordered comparison", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>,
]> { let cppNamespace = "::dpc::nn"; }

// dist::Reduction has all of these kinds except `prod`, because no collective multiplies. Therefore
// no axis may shard the dimensions that an nn.reduce with kind `prod` reduces.
def NN_ReduceKind : I32EnumAttr<"ReduceKind", "How a reduction combines elements", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
  I32EnumAttrCase<"prod", 3>,
]> { let cppNamespace = "::dpc::nn"; }

def NN_ScatterKind : I32EnumAttr<"ScatterKind", "How a scatter combines an update with what is there", [
  I32EnumAttrCase<"none", 0>, // the update replaces the element
  I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"max", 3>,
  I32EnumAttrCase<"min", 4>,
]> { let cppNamespace = "::dpc::nn"; }

def NN_GeluApproximation : I32EnumAttr<"GeluApproximation", "Formula of gelu", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"tanh", 1>,
]> { let cppNamespace = "::dpc::nn"; }

#endif // DPC_DIALECTS_NN_IR_NNATTRS_TD
