// Where restored tensors are in the file.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H
#define DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H

#include "dialects/NN/IR/FileTensors.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// How to read a tensor of shape `shape` from `steps` of it, the tensor of the
/// file: strides when the steps only move its elements or add a number to all,
/// else that the file's tensor holds only a part.
nn::FileTensor viewOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<DerivationStep> steps,
                      const Initializer &inFile);

/// Which tensors of `graph`, the file's, stand for each tensor of the plan: one
/// entry a tensor, whose own name comes first if the file has it.
std::vector<std::vector<nn::FileTensor>> findFileViews(const RestorationPlan &plan,
                                                       const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H
