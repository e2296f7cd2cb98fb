// Finds the places of restored tensors in the file.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H
#define DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H

#include "dialects/NN/IR/FileTensors.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// Describes how to read a tensor of shape `shape` from the file's tensor `inFile`,
/// which `steps` made from it. If the steps only move elements or add a number to
/// all, the view has strides. Otherwise the view says that the file has only a part
/// of the tensor.
nn::FileTensor viewOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<DerivationStep> steps,
                      const Initializer &inFile);

/// The file's tensors in `graph` that represent each tensor of the plan: one entry
/// per tensor. The tensor's own name comes first if the file has it.
std::vector<std::vector<nn::FileTensor>> findFileViews(const RestorationPlan &plan,
                                                       const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H
