// Finds the buffers that the forward() of the PyTorch module updates.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_BUFFERUPDATES_H
#define DPC_FRONTENDS_ONNX_RESTORE_BUFFERUPDATES_H

#include "frontends/onnx/Restore/CallReads.h"

namespace dpc::onnx {

/// The buffers that forward() updates, according to the graph signature. The statistics
/// of batch normalisation are left out, because its op updates them itself.
struct UpdatedBuffers {
  /// The buffers that a node of the file reads, with their next values.
  std::vector<BufferUpdate> updates;
  /// Next values that depend on the old value of a buffer. No gradient may pass them,
  /// because it would flow into the previous step of training.
  std::vector<ValueId> running;
  /// One message for each buffer that cannot be updated, because the file has lost its
  /// value or its next value. One message for each parameter that forward() changes.
  std::vector<std::string> lost;
};

/// `standIns` maps the name of a buffer to the tensor that holds it in the file, if
/// the exporter merged the buffer with an equal tensor.
UpdatedBuffers findUpdatedBuffers(const Graph &graph, const CallComparison &calls,
                                  const std::map<std::string, ValueId> &standIns = {});

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_BUFFERUPDATES_H
