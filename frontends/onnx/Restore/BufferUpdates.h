// Buffers that forward() updates.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_BUFFERUPDATES_H
#define DPC_FRONTENDS_ONNX_RESTORE_BUFFERUPDATES_H

#include "frontends/onnx/Restore/CallReads.h"

namespace dpc::onnx {

/// What forward() updates, as the signature says; batch normalisation, which
/// moves its own statistics, is left out.
struct UpdatedBuffers {
  /// The buffers that something in the file reads, with their next values.
  std::vector<BufferUpdate> updates;
  /// The next values that are computed from a buffer's old one. A module can go
  /// on training only if no gradient passes them: it would reach into the last
  /// step.
  std::vector<ValueId> running;
  /// One message for each buffer that the file reads, but whose value or next
  /// value it no longer holds, and one for each parameter that forward() changes.
  std::vector<std::string> lost;
};

/// `standIns` are tensors of the file that are to be a buffer of another name
/// again: the exporter merged equal ones.
UpdatedBuffers findUpdatedBuffers(const Graph &graph, const CallComparison &calls,
                                  const std::map<std::string, ValueId> &standIns = {});

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_BUFFERUPDATES_H
