// Finds the dimension of each input that counts the samples (its batch
// dimension).

#ifndef DPC_FRONTENDS_ONNX_IMPORT_BATCHDIMS_H
#define DPC_FRONTENDS_ONNX_IMPORT_BATCHDIMS_H

#include "frontends/onnx/Model/Graph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace dpc::onnx {

/// Sets GraphInput::batchDim of each element of `inputs`. The shapes of `inputs` are
/// static. `inFile` lists the same inputs with the shapes of the file, in which an open
/// (dynamic) dimension is -1. If `asked` (--batch-dim) gives a dimension for an input, it
/// is the batch dimension of this input. Otherwise the batch dimension of the first input
/// is dimension 0, with one exception: if the file fixes dimension 0 and leaves a
/// dimension open whose name begins with "batch", that dimension is the batch dimension
/// (e.g. in a model whose dimension 0 is time). The batch dimension of any other input is
/// the first of these that exists:
///   - the dimension with the same symbolic name as the batch dimension of the first
///     input;
///   - dimension 0 if it has the same extent as the batch dimension of the first input.
/// If neither exists, batchDim is -1: the input has no batch dimension. This also holds
/// for all inputs that `asked` does not name if the first input has none, e.g. because it
/// is a scalar.
///
/// `notes` gets a line for each batch dimension other than 0 that `asked` does not give.
/// It also gets a line if the file fixes dimension 0 of the first input and leaves other
/// dimensions open, but none whose name begins with "batch". The function fails if
/// `asked` names an input or a dimension that the model does not have.
llvm::Error findBatchDims(llvm::ArrayRef<GraphInput> inFile,
                          const std::map<std::string, int64_t> &asked,
                          llvm::MutableArrayRef<GraphInput> inputs,
                          std::vector<std::string> &notes);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_BATCHDIMS_H
