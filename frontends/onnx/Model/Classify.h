// Which initializers of a graph are trained.

#ifndef DPC_FRONTENDS_ONNX_MODEL_CLASSIFY_H
#define DPC_FRONTENDS_ONNX_MODEL_CLASSIFY_H

#include "frontends/onnx/Model/Graph.h"
#include "frontends/onnx/Model/TrainingRequests.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc::onnx {

/// What an initializer is to a training run.
enum class Role {
  /// Trained.
  Parameter,
  /// A parameter that is not to be trained. Its values are state like those of
  /// one that is: nothing is computed from them at import.
  Frozen,
  /// State that is not trained: running statistics.
  Buffer,
  /// Never changes.
  Constant,
};
llvm::StringRef roleName(Role role);

/// Why, for one initializer.
struct Classified {
  Role role = Role::Constant;
  /// Short enough for a table row: "marked PARAMETER".
  std::string reason;
  /// The module parameters it stands for under another name, as far as metadata
  /// says.
  std::vector<std::string> sources;
  /// The module's state_dict has it, as far as the file says: what is saved of
  /// the module has it too.
  bool isOfModule = true;

  Classified() = default;
  Classified(Role role, std::string reason, std::vector<std::string> sources = {})
      : role(role), reason(std::move(reason)), sources(std::move(sources)) {}
};

/// Decides for every initializer of `graph` (result in their order). The first
/// rule that applies decides:
///
///  0. what forward() updates is a buffer;
///  1. integers and booleans are constants;
///  2. what is only ever the mean or variance operand of BatchNormalization is
///     a buffer;
///  3. a recorded kind: PARAMETER is a parameter, BUFFER a buffer,
///     CONSTANT_TENSOR a constant (and a restored model's position encodings,
///     see Import.cpp);
///  4. `folded_from`: computed by the exporter from a PARAMETER of the graph
///     signature, and more than a rank-0 scalar or a mask: a parameter;
///     computed from none: a constant;
///  5. its name is the target of a PARAMETER or BUFFER of the graph signature
///     (the mark was lost);
///  6. masks, position tables, scalars, input statistics and neutral
///     normalisation operands are constants;
///  7. with a graph signature: a node whose fx text names a PARAMETER that no
///     operand of that fx node accounts for, or into which a BatchNorm was
///     folded, makes it a parameter; when no PARAMETER is unaccounted for, it
///     is a constant;
///  8. a float from which an output is reached by a differentiable path is a
///     parameter, any other a constant.
///
/// Then the requests of the command line apply (TrainingRequests). A parameter
/// that they do not train is frozen.
llvm::Expected<std::vector<Classified>> classify(const Graph &graph,
                                                 llvm::ArrayRef<TrainingRequest> requests);

/// One row an initializer: name, type, role, why.
void printClassification(const Graph &graph, llvm::ArrayRef<Classified> roles,
                         llvm::raw_ostream &os);

/// One line for each thing the exporter lost of the module, with the export
/// call that keeps it: BatchNorm folded into a convolution, BatchNorm exported
/// for inference by a module in training mode, equal parameters merged, tied
/// weights split, parameters transposed or computed under another name,
/// parameters gone.
std::vector<std::string> describeExportLosses(const Graph &graph, llvm::ArrayRef<Classified> roles);

/// For each value of `graph`: is an output reached from it by operators that
/// have a gradient.
std::vector<bool> differentiablyReachesOutput(const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_CLASSIFY_H
