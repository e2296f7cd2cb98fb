// Finds the tensors of the ONNX file that contain the restored tensors.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H
#define DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H

#include "dialects/NN/IR/FileTensors.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// Describes how to read a restored tensor of shape `shape` from the file's tensor
/// `inFile`, which the exporter computed from the restored tensor by `steps`. If the steps
/// only move elements or add a number to all of them, the view has strides. Otherwise the
/// view says that the file has only a part of the restored tensor.
nn::FileTensor viewOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<DerivationStep> steps,
                      const Initializer &inFile);

/// For each tensor of the plan, the file's tensors in `graph` that contain it or some of
/// its rows. The result has one entry per tensor of the plan. The tensor's own name comes
/// first if the file has it. If no tensor of the file contains any of its rows, the only
/// view says so (FileTensor::Holds::nothing).
std::vector<std::vector<nn::FileTensor>> findFileViews(const RestorationPlan &plan,
                                                       const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_FILEVIEWS_H
