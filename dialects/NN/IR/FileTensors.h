// The places of variables in the ONNX file.

#ifndef DPC_DIALECTS_NN_IR_FILETENSORS_H
#define DPC_DIALECTS_NN_IR_FILETENSORS_H

#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

#include <string>

namespace dpc::nn {

/// Another name of a variable, in options and in files of parameters. It is either
/// the name of a tensor of the ONNX file that represents the variable, if import
/// restored a parameter of the module, or another name that the module has for the
/// variable.
struct FileTensor {
  enum class Holds {
    /// The tensor has all elements of the variable.
    all,
    /// The tensor has only some rows of the variable, or rows repeated, so the
    /// variable cannot be read from it.
    part,
    /// No tensor: the exporter dropped the variable, which was zero. The name is
    /// then the variable's own.
    nothing,
    /// No tensor of the file: another name that the module has for the variable
    /// (tied parameters). Such entries come after all others.
    tied
  };
  std::string name;
  Holds holds = Holds::all;
  /// The shape of the tensor; empty for `nothing` and `tied`.
  llvm::SmallVector<int64_t> shape;
  /// For `all`, one entry per dimension of the variable: element [i, j, ..] of the
  /// variable is the element at i * strides[0] + j * strides[1] + .. of the
  /// row-major tensor.
  llvm::SmallVector<int64_t> strides;
  /// The elements of the tensor are larger than those of the variable by this
  /// number.
  double shift = 0;
};

/// Attribute of an nn.variable: an array of dictionaries, one per FileTensor.
constexpr llvm::StringLiteral kFileTensorsAttrName = "nn.file_tensors";

/// Sets the attribute, or removes it if `tensors` is empty.
void setFileTensors(VariableOp variable, llvm::ArrayRef<FileTensor> tensors);
/// The entries of the attribute; none if it is absent. Fails with a diagnostic if
/// the attribute has another form or its strides reach past a tensor.
mlir::FailureOr<llvm::SmallVector<FileTensor>> getFileTensors(VariableOp variable);

/// All names of a module's variables. If a tensor of the file represents several
/// variables and one of these has the tensor's name, the name denotes only that
/// variable.
class VariableNames {
public:
  explicit VariableNames(mlir::ModuleOp module);

  /// Whether `text` is `name` or another name of that variable.
  bool isSpelled(llvm::StringRef name, llvm::StringRef text) const;
  /// Whether the glob matches `name` or another name of that variable.
  bool matches(llvm::StringRef name, const llvm::GlobPattern &glob) const;

private:
  /// The other names of each variable.
  llvm::StringMap<llvm::SmallVector<std::string>> others;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_FILETENSORS_H
