// From an ONNX file to a module of the `nn` dialect.

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
  /// Which dimension of an input counts samples, by input name; -1 for an input
  /// that is one whole array. Others take that of findBatchDims.
  std::map<std::string, int64_t> batchDims;
  /// Which initializers train, in the order of the command line.
  std::vector<TrainingRequest> training;
  /// Print the tables of what was restored and of which initializers train,
  /// and why, to the notes.
  bool explain = false;
  /// Take the graph as the file has it; else parameters that the exporter
  /// merged, moved or computed with are put back first.
  bool asExported = false;
  /// The graph is for training: what an export lost for good is an error.
  bool trains = false;
  /// Initial values of parameters are left unread, and are zeros in the module: the
  /// program gets them when it starts. The file of their external data need not be there.
  bool skipsValues = false;
  /// Floats of 16 bits in the file are f32 in the module, wherever they stand: a
  /// cast to 16 bits rounds nothing then.
  bool widensHalves = false;
};

/// What the file holds, for reports.
struct ImportSummary {
  struct Count {
    int64_t tensors = 0, elements = 0;
  };
  /// Initializers by what they are to training. Frozen ones are parameters but
  /// for the command line.
  Count trained, frozen, buffers, constants;
  std::string producer;
  int64_t nodes = 0;
  /// What was put back of the module: name, type, number of uses, what the file
  /// has instead.
  std::vector<std::array<std::string, 4>> restored;
  /// What of the file has floats of 16 bits.
  Halves halves;
};

/// Imports the ONNX model at `path` into a module at level `import`: one
/// `nn.variable` an initializer that is an argument, and `func.func @forward`
/// whose arguments and results carry `#nn.arg` and `#nn.result`. All types are
/// static, shape arithmetic is evaluated, and locations name the ONNX node and
/// its module path.
///
/// Weights stay where they are (the parsed model or a mapped file) and are kept
/// alive by the module's context. Errors are diagnostics, one line each, that
/// name the file, node or tensor; the result is then null. What was restored,
/// or one line for each thing the export lost of the module, goes to `notes`.
/// `outSource` and `outSummary`, unless null, get the parsed (and restored)
/// model and what it holds.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path, mlir::MLIRContext *context,
                                             const ImportOptions &options, llvm::raw_ostream &notes,
                                             std::unique_ptr<OnnxModel> *outSource = nullptr,
                                             ImportSummary *outSummary = nullptr);

/// Parses "NAME:DxDx.." (or "NAME:" for a scalar) into `options.shapes`. Returns what is
/// wrong with `text`, for a message: its form, an extent below 1, or a name that was given
/// before. Empty if nothing is.
std::string parseShapeOption(llvm::StringRef text, ImportOptions &options);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_IMPORT_H
