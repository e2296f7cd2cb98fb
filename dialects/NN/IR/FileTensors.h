// Where a variable was in its ONNX file.

#ifndef DPC_DIALECTS_NN_IR_FILETENSORS_H
#define DPC_DIALECTS_NN_IR_FILETENSORS_H

#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

#include <string>

namespace dpc::nn {

/// Another name of a variable, in options and in files of parameters: that of a
/// tensor of the ONNX file that it stands for where import put a parameter of
/// the module back, or one of the module.
struct FileTensor {
  enum class Holds {
    /// All of the variable.
    all,
    /// Only some rows of it, or repeated ones: it cannot be read from there.
    part,
    /// Nothing: the exporter dropped the variable, which was zero. The name is
    /// then the variable's own.
    nothing,
    /// No tensor of the file, but another name that the module has for the
    /// variable: tied parameters. Comes after all others.
    tied
  };
  std::string name;
  Holds holds = Holds::all;
  /// Of the tensor; empty where it holds nothing or is tied.
  llvm::SmallVector<int64_t> shape;
  /// Where it holds all, one entry a dimension of the variable: the variable's
  /// element [i, j, ..] is that at i * strides[0] + j * strides[1] + .. of the
  /// tensor's, row-major.
  llvm::SmallVector<int64_t> strides;
  /// The tensor's elements are larger by this.
  double shift = 0;
};

/// Attribute of an nn.variable: an array of dictionaries, one a FileTensor.
constexpr llvm::StringLiteral kFileTensorsAttrName = "nn.file_tensors";

/// Sets the attribute, or removes it if there are none.
void setFileTensors(VariableOp variable, llvm::ArrayRef<FileTensor> tensors);
/// What the attribute says; none without it. Fails, with a diagnostic, where it
/// has another form or reaches past a tensor.
mlir::FailureOr<llvm::SmallVector<FileTensor>> getFileTensors(VariableOp variable);

/// All names of a module's variables. A tensor that stands for several, one of
/// which has its name, names that one alone.
class VariableNames {
public:
  explicit VariableNames(mlir::ModuleOp module);

  /// Is `name`, or another name of that variable, spelled so.
  bool isSpelled(llvm::StringRef name, llvm::StringRef text) const;
  /// The same for a glob.
  bool matches(llvm::StringRef name, const llvm::GlobPattern &glob) const;

private:
  /// The other names.
  llvm::StringMap<llvm::SmallVector<std::string>> others;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_FILETENSORS_H
