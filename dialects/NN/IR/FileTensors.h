// Says how the values of variables are found in an ONNX file or in a file of
// parameters.

#ifndef DPC_DIALECTS_NN_IR_FILETENSORS_H
#define DPC_DIALECTS_NN_IR_FILETENSORS_H

#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

#include <string>

namespace dpc::nn {

/// A second name of a variable, which users may use in options and in files of
/// parameters. There are two kinds of second names. If import restored a parameter that
/// the exporter had changed, the second name is that of an ONNX file's tensor from which
/// the parameter was restored. If the PyTorch module has several names for one tied
/// parameter, the second name is one of these. An entry may also have the variable's own
/// name, if the file has a tensor with this name or if the exporter dropped the variable
/// (`nothing`).
struct FileTensor {
  enum class Holds {
    /// The tensor has all elements of the variable.
    all,
    /// The tensor has only some rows of the variable, or repeats rows, so the
    /// variable cannot be read from it.
    part,
    /// There is no tensor, because the exporter dropped the variable, which was
    /// zero. `name` is then the name of the variable.
    nothing,
    /// There is no tensor: `name` is another name of a tied parameter. Entries of
    /// this kind come last.
    tied
  };
  std::string name;
  Holds holds = Holds::all;
  /// The shape of the tensor; empty for `nothing` and `tied`.
  llvm::SmallVector<int64_t> shape;
  /// Only for `all`: one entry per dimension of the variable. Element [i, j, ..]
  /// of the variable is element i * strides[0] + j * strides[1] + .. of the
  /// row-major tensor.
  llvm::SmallVector<int64_t> strides;
  /// Each element of the tensor is the element of the variable plus this number.
  double shift = 0;
};

/// Name of the attribute of an nn.variable that lists its second names: an array
/// with one dictionary per FileTensor.
constexpr llvm::StringLiteral kFileTensorsAttrName = "nn.file_tensors";

/// Sets the attribute, or removes it if `tensors` is empty.
void setFileTensors(VariableOp variable, llvm::ArrayRef<FileTensor> tensors);
/// The entries of the attribute; none if it is absent. Fails with a diagnostic if
/// the attribute does not have the form that setFileTensors writes, or if strides
/// reach beyond the end of a tensor.
mlir::FailureOr<llvm::SmallVector<FileTensor>> getFileTensors(VariableOp variable);

/// All names of the variables of a program. A name may be the second name of
/// several variables. If it is also the first name of a variable, it denotes only
/// this variable.
class VariableNames {
public:
  explicit VariableNames(mlir::ModuleOp module);

  /// Whether `text` is a name of the variable `name`.
  bool isSpelled(llvm::StringRef name, llvm::StringRef text) const;
  /// Whether `glob` matches a name of the variable `name`.
  bool matches(llvm::StringRef name, const llvm::GlobPattern &glob) const;

private:
  /// The second names of each variable.
  llvm::StringMap<llvm::SmallVector<std::string>> others;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_FILETENSORS_H
