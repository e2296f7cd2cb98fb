// Running statistics of modules that are called several times.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H
#define DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/FxCall.h"

#include <map>

namespace dpc::onnx {

struct CallNodes;

/// Whether aten's batch norm moves its running statistics: (x, weight, bias, mean,
/// variance, True, momentum, eps).
bool movesStatistics(const FxCall &call);

/// The names under which calls read running statistics that earlier calls of the
/// same module have moved (`%getitem_3`). The file has the buffer there: its
/// exporter writes batch norm for inference, where nothing moves.
class MovedStatistics {
public:
  /// `calls` in the order of the program.
  MovedStatistics(const Graph &graph, const GraphSignature &signature,
                  llvm::ArrayRef<CallNodes> calls);

  /// The buffer that has the name after a call has moved it; nullptr for any
  /// other name.
  const SignatureEntry *find(llvm::StringRef name) const;
  /// One message for each buffer that moves more often than the file says, or
  /// that something else than batch norm reads once it has moved.
  const std::vector<std::string> &getLost() const { return lost; }

private:
  void follow(const CallNodes &call);
  const SignatureEntry *bufferOf(const CallNodes &call, int32_t node, int position);
  void checkEnds();
  void checkReaders(llvm::ArrayRef<CallNodes> calls);

  const Graph &graph;
  const GraphSignature &signature;
  std::map<std::string, const SignatureEntry *, std::less<>> buffers;
  /// The name that each buffer has after its last move; empty where the file does
  /// not name the results of a call.
  std::map<const SignatureEntry *, std::string> ends;
  std::vector<std::string> lost;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_MOVEDSTATISTICS_H
