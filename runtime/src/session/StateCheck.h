#ifndef DPC_RUNTIME_SRC_SESSION_STATECHECK_H
#define DPC_RUNTIME_SRC_SESSION_STATECHECK_H

#include "runtime/src/pieces/Replicas.h"
#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// Compares the state that several ranks hold: parameters, buffers and the optimizer's state.
/// Their copies must have the same bits. Ranks exchange fingerprints, not the state.
class StateCheck {
public:
  explicit StateCheck(dpc_session &session);

  /// Collective. Compares all copies. If some differ, returns DPC_PEER on all ranks, with a message
  /// that names the step, the tensor, and the ranks whose copy is not that of most ranks.
  dpc_status_t compare();
  /// The step after which the state was last compared; UINT64_MAX: it was not yet.
  uint64_t comparedAt() const { return step; }

private:
  /// Contiguous elements of this rank's buffer.
  struct Span {
    uint64_t local, length;
  };
  /// A part of a state that several ranks hold.
  struct Part {
    uint32_t state;
    std::vector<uint32_t> ranks;
    std::vector<Span> spans; ///< in an order that is the same on all ranks; empty: not on this rank
  };
  std::vector<Span> spansOf(uint32_t state, const Replicas &replicas) const;
  dpc_status_t fingerprint(const Part &part, int64_t *out);
  dpc_status_t findDifferent(const std::vector<int64_t> &own, std::vector<size_t> *out);
  dpc_status_t explain(size_t part, size_t others, int64_t own);

  dpc_session &session;
  std::vector<Part> parts;
  std::vector<char> staging;
  uint64_t step = UINT64_MAX;
};

/// Describes copies that differ, for a message: `values` has the fingerprint of each of `ranks`.
/// The ranks without the most frequent fingerprint are named first. If no fingerprint is the most
/// frequent one, all ranks are.
std::string differenceText(const std::string &tensor, const std::vector<uint32_t> &ranks,
                           const std::vector<int64_t> &values);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_STATECHECK_H
