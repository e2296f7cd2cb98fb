// What the user asked to train.

#ifndef DPC_FRONTENDS_ONNX_MODEL_TRAININGREQUESTS_H
#define DPC_FRONTENDS_ONNX_MODEL_TRAININGREQUESTS_H

#include "frontends/onnx/Model/Graph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

#include <string>
#include <vector>

namespace dpc::onnx {

/// One --trainable=GLOB or --frozen=GLOB.
struct TrainingRequest {
  bool train;
  std::string pattern;

  /// "--frozen=GLOB", for messages.
  std::string text() const { return (train ? "--trainable=" : "--frozen=") + pattern; }
};

/// The requests of a command line in their order, for a graph. Any --trainable
/// starts from none: what no request names then does not train. After that the
/// last request that names an initializer decides about it. A --trainable names
/// what it spells out, and of what its glob matches only what trains by
/// default: a mask or a running statistic becomes a parameter by its own name
/// alone.
class TrainingRequests {
public:
  /// Fails, naming the option, for a pattern that is none or that matches no
  /// initializer, and for a --trainable that spells out what is not float.
  static llvm::Expected<TrainingRequests> create(const Graph &graph,
                                                 llvm::ArrayRef<TrainingRequest> requests);

  enum class Verdict {
    /// As without requests.
    byDefault,
    trains,
    /// By a --frozen.
    frozen,
    /// There is a --trainable, and none names it.
    leftOut
  };
  /// About a float initializer; `trainsByDefault` is what holds without
  /// requests.
  Verdict judge(const Initializer &initializer, bool trainsByDefault) const;

  /// Fails for the first --trainable that names nothing that may train.
  /// `trainsByDefault` has one entry an initializer of `graph`.
  llvm::Error checkUsed(const Graph &graph, const std::vector<bool> &trainsByDefault) const;

private:
  struct Compiled {
    TrainingRequest request;
    llvm::GlobPattern glob;

    bool spells(const Initializer &initializer) const;
    bool matches(const Initializer &initializer) const;
  };
  bool names(const Compiled &compiled, const Initializer &initializer, bool trainsByDefault) const;

  std::vector<Compiled> requests;
  bool startsFromNone = false;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_TRAININGREQUESTS_H
