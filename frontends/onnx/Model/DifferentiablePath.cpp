// Finds the values that have a differentiable path to an output.

#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/ExporterMetadata.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// Whether no gradient passes through operator `op`: its result is an integer, a boolean,
/// a shape, random, or a piecewise constant function of its operands.
bool hasNoGradient(StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Shape", "Size", "NonZero", "ArgMax", "ArgMin", "OneHot", "ConstantOfShape", "Range",
             true)
      .Cases("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "Not",
             true)
      .Cases("Floor", "Ceil", "Round", "Sign", "IsNaN", "IsInf", "EyeLike", "Constant", "Bernoulli",
             true)
      .Cases("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
             "Multinomial", true)
      .Default(false);
}

/// True if operand `operand` carries data through the operator. Other operands only
/// configure the operator, e.g. a shape or an axis.
bool isDataOperand(StringRef op, int operand) {
  int data =
      llvm::StringSwitch<int>(op)
          .Cases("Reshape", "Expand", "Tile", "Squeeze", "Unsqueeze", "Slice", "Split", 1)
          .Cases("SplitToSequence", "SequenceAt", 1)
          .Cases("Gather", "GatherElements", "GatherND", "TopK", "CumSum", "Trilu", "Pad", "Resize",
                 1)
          .Cases("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                 "ReduceL2", 1)
          .Cases("ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", 1)
          .Cases("Dropout", "Clip", "Pow", "CastLike", "Upsample", "SoftmaxCrossEntropyLoss", 1)
          .Cases("NegativeLogLikelihoodLoss", "Compress", 1)
          .Case("BatchNormalization", 3)
          .Default(1 << 20);
  if (op == "Where")
    return operand > 0;
  if (op == "ScatterElements" || op == "ScatterND" || op == "TensorScatter")
    return operand != 1;
  if (op == "If" || op == "Loop") // not If's condition, not Loop's trip count and condition
    return operand > (op == "Loop");
  if (op == "LSTM" || op == "GRU" || op == "RNN")
    return operand != 4;
  return operand < data;
}

/// Whether `value`, an exponent or the bound of a clamp, may be a parameter or be
/// computed from a parameter. An initializer may be a parameter if its name comes from
/// the PyTorch module. The names that TorchScript generates belong to constants.
bool mayTrain(const Graph &graph, ValueId value) {
  const GraphValue &given = graph.values[value];
  return given.kind == GraphValue::Kind::Result ||
         (given.kind == GraphValue::Kind::Initializer && !isGeneratedName(given.name));
}

} // namespace

std::vector<bool> differentiablyReachesOutput(const Graph &graph) {
  const bool isTorchScript = exporterOf(graph) == Exporter::TorchScript;
  std::vector<bool> reaches(graph.values.size());
  for (const GraphOutput &output : graph.outputs)
    reaches[output.value] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool wanted = false;
    for (ValueId output : node->outputs)
      wanted |= output != kNoValue && reaches[output];
    if (!wanted || node->stopsGradient || hasNoGradient(node->opType))
      continue;
    // Values that a subgraph reads from the graphs around it count as data.
    forEachUse(*node, [&](ValueId value, int32_t operand) {
      bool isSetting = isTorchScript && (node->is("Pow") || node->is("Clip")) && operand > 0;
      if (operand < 0 || isDataOperand(node->opType, operand) ||
          (isSetting && mayTrain(graph, value)))
        reaches[value] = true;
    });
  }
  return reaches;
}

} // namespace dpc::onnx
