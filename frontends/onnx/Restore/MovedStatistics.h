// Tracks running statistics of modules that are called several times.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H
#define DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/FxCall.h"

#include <map>

namespace dpc::onnx {

struct CallNodes;

/// Whether the call of aten's batch norm updates its running statistics: (x,
/// weight, bias, mean, variance, True, momentum, eps).
bool movesStatistics(const FxCall &call);

/// The names under which calls read running statistics that earlier calls of the
/// same module have updated (`%getitem_3`). The file has the plain buffer in their
/// place, because its exporter writes batch norm in inference form, which updates
/// nothing.
class MovedStatistics {
public:
  /// `calls` are in the order of execution.
  MovedStatistics(const Graph &graph, const GraphSignature &signature,
                  llvm::ArrayRef<CallNodes> calls);

  /// The buffer that has this name after a call has updated it; nullptr for any
  /// other name.
  const SignatureEntry *find(llvm::StringRef name) const;
  /// One message for each buffer that is updated more often than the file says, and
  /// for each whose updated value is read by anything but batch norm.
  const std::vector<std::string> &getLost() const { return lost; }

private:
  void follow(const CallNodes &call);
  const SignatureEntry *bufferOf(const CallNodes &call, int32_t node, int position);
  void checkEnds();
  void checkReaders(llvm::ArrayRef<CallNodes> calls);

  const Graph &graph;
  const GraphSignature &signature;
  std::map<std::string, const SignatureEntry *, std::less<>> buffers;
  /// The name of each buffer after its last update; empty if the file does not name
  /// the results of a call.
  std::map<const SignatureEntry *, std::string> ends;
  std::vector<std::string> lost;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H
