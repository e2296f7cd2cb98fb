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

/// Sets GraphInput::batchDim of `inputs`, whose shapes are static. `inFile` has the same
/// inputs with the shapes of the file, where an open dimension is -1. An input takes, in
/// this order:
///   - the dimension that `asked` (--batch-dim) has for it;
///   - the dimension that has the name of the first input's batch dimension;
///   - dimension 0 if its extent is the first input's batch, else none (-1).
/// The first input takes dimension 0. If the file fixes dimension 0 and calls another
/// open dimension "batch.." (a model that takes time first), it takes that one.
///
/// `notes` gets a line for each batch dimension other than 0. It also gets a line if
/// the file fixes dimension 0 and leaves another dimension open under another name. The
/// error names an input or a dimension that `asked` has and the model lacks.
llvm::Error findBatchDims(llvm::ArrayRef<GraphInput> inFile,
                          const std::map<std::string, int64_t> &asked,
                          llvm::MutableArrayRef<GraphInput> inputs,
                          std::vector<std::string> &notes);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_BATCHDIMS_H
