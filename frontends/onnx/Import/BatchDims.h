// Which dimension of each input counts the samples.

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
/// `notes` gets a line for each dimension that is not 0, and for a dimension 0 that the
/// file fixes while it leaves another one open under another name. The error names a
/// request of an input or a dimension that is not there.
llvm::Error findBatchDims(llvm::ArrayRef<GraphInput> inFile,
                          const std::map<std::string, int64_t> &asked,
                          llvm::MutableArrayRef<GraphInput> inputs,
                          std::vector<std::string> &notes);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_BATCHDIMS_H
