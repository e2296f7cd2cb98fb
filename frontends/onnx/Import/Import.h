// Imports an ONNX file as an MLIR module of the `nn` dialect.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_IMPORT_H
#define DPC_FRONTENDS_ONNX_IMPORT_IMPORT_H

#include "frontends/onnx/Model/Halves.h"
#include "frontends/onnx/Model/TrainingRequests.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dpc::onnx {

struct OnnxModel;

struct ImportOptions {
  /// Global shape by input name; replaces dynamic and static dimensions.
  std::map<std::string, llvm::SmallVector<int64_t>> shapes;
  /// The batch dimension of an input, by input name; -1 for an input that is one
  /// array for all samples. For other inputs findBatchDims decides.
  std::map<std::string, int64_t> batchDims;
  /// The --trainable and --frozen requests, in the order of the command line.
  std::vector<TrainingRequest> training;
  /// Print tables to the notes: the restored tensors, and which initializers train
  /// and why.
  bool explain = false;
  /// Import the graph as the file has it. If false, the importer first restores
  /// parameters that the exporter merged, moved or folded into others.
  bool asExported = false;
  /// Whether the graph will be trained. It is then an error if the export lost a property
  /// of the PyTorch module that the importer cannot restore.
  bool trains = false;
  /// Do not read the initial values of parameters: they are zeros in the MLIR module, and
  /// the program loads them when it starts. The file of their external data may be absent.
  bool skipsValues = false;
  /// Import 16-bit floats of the file as f32, in tensors and in casts. A cast to a 16-bit
  /// type then becomes a cast to f32, which rounds nothing.
  bool widensHalves = false;
};

/// Statistics of the file, for reports.
struct ImportSummary {
  struct Count {
    int64_t tensors = 0, elements = 0;
  };
  /// The initializers, counted by their role in training. `frozen` counts the parameters
  /// that the command line excludes from training.
  Count trained, frozen, buffers, constants;
  std::string producer;
  int64_t nodes = 0;
  /// One row per restored tensor: name, type, number of uses, and the form that the
  /// file has.
  std::vector<std::array<std::string, 4>> restored;
  /// The 16-bit floats of the file.
  Halves halves;
};

/// Imports the ONNX model at `path` into an MLIR module at level `import`: one
/// `nn.variable` per initializer that is an argument, and `func.func @forward`,
/// whose arguments and results carry `#nn.arg` and `#nn.result`. All types are
/// static, and shape arithmetic is evaluated. Locations name the ONNX node and the
/// PyTorch module that the node belongs to.
///
/// Weights are not copied: the MLIR module views them in the parsed model or a mapped
/// file, which the MLIR context keeps alive. Each error is a diagnostic of one line that
/// names the file, node, tensor or option; the result is then null. `notes` gets notes for
/// the user, e.g. on the restored tensors or, with `asExported`, on the properties of the
/// PyTorch module that the export lost. Unless they are null, `outSource` gets the parsed
/// (and restored) model, and `outSummary` gets its statistics.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path, mlir::MLIRContext *context,
                                             const ImportOptions &options, llvm::raw_ostream &notes,
                                             std::unique_ptr<OnnxModel> *outSource = nullptr,
                                             ImportSummary *outSummary = nullptr);

/// Parses "NAME:DxDx.." (or "NAME:" for a scalar) into `options.shapes`. Returns a message
/// about a bad form, an extent below 1 or a repeated name; empty if `text` is valid.
std::string parseShapeOption(llvm::StringRef text, ImportOptions &options);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_IMPORT_H
