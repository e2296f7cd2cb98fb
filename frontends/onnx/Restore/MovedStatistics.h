// Tracks running statistics of PyTorch modules that are called several times.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H
#define DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/FxCall.h"

#include <map>

namespace dpc::onnx {

struct CallNodes;

/// Whether `call` is a batch norm of ATen that updates its running statistics: a call
/// with the arguments (x, weight, bias, mean, variance, True, momentum, eps); the
/// argument True is `training`.
bool movesStatistics(const FxCall &call);

/// The names under which calls read running statistics that earlier calls of the
/// same module have updated (`%getitem_3`). In the ONNX file, such a call reads the
/// buffer without updates: the exporter writes batch norm in inference form, which
/// updates nothing.
class MovedStatistics {
public:
  /// `calls` are in the order of execution.
  MovedStatistics(const Graph &graph, const GraphSignature &signature,
                  llvm::ArrayRef<CallNodes> calls);

  /// The buffer whose value `name` denotes, before or after an update by a tracked call;
  /// nullptr for any other name.
  const SignatureEntry *find(llvm::StringRef name) const;
  /// Messages about two things that the ONNX file lost. (1) An update of a buffer: the
  /// exporter merged its call with an equal call. (2) The updated value of a buffer,
  /// which a call other than batch norm reads.
  const std::vector<std::string> &getLost() const { return lost; }

private:
  void follow(const CallNodes &call);
  const SignatureEntry *bufferOf(const CallNodes &call, int32_t node, int position);
  void checkEnds();
  void checkReaders(llvm::ArrayRef<CallNodes> calls);

  const Graph &graph;
  const GraphSignature &signature;
  std::map<std::string, const SignatureEntry *, std::less<>> buffers;
  /// The name of each buffer after its last update; empty if the file does not name the
  /// results of a call, or once a message about the buffer has been made.
  std::map<const SignatureEntry *, std::string> ends;
  std::vector<std::string> lost;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H
