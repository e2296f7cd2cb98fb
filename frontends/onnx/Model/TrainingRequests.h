// The user's choice of the initializers to train: --trainable and --frozen.

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

/// The requests of a command line in their order, for one graph. If one of them is a
/// --trainable, initializers that no request names do not train. If several requests name
/// an initializer, the last of these requests decides. A --trainable that spells out a
/// name also applies to an initializer that does not train by default. A --trainable with
/// a glob applies only to initializers that train by default: a mask or a running
/// statistic becomes a parameter only if its own name is given.
class TrainingRequests {
public:
  /// Fails, naming the option, for an invalid pattern, for a pattern that matches
  /// no initializer, and for a --trainable that spells out a tensor that is not
  /// float.
  static llvm::Expected<TrainingRequests> create(const Graph &graph,
                                                 llvm::ArrayRef<TrainingRequest> requests);

  enum class Verdict {
    /// No request applies.
    byDefault,
    trains,
    /// The last request that names the initializer is a --frozen.
    frozen,
    /// The initializer trains by default, but no request names it, and there is a
    /// --trainable.
    leftOut
  };
  /// The verdict for a float initializer. `trainsByDefault` tells whether the initializer
  /// trains if there are no requests.
  Verdict judge(const Initializer &initializer, bool trainsByDefault) const;

  /// Fails for the first --trainable that has no effect, because its glob matches only
  /// initializers that do not train by default. `trainsByDefault` has one entry per
  /// initializer of `graph`.
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
