#ifndef DPC_RUNTIME_SRC_DESCRIBE_MEASURINGRANK_H
#define DPC_RUNTIME_SRC_DESCRIBE_MEASURINGRANK_H

#include "dpc/comm.h"
#include "runtime/src/describe/Describe.h"

#include <vector>

namespace dpc {

/// The operations that are timed: collectives, and a message from the first member of a group to
/// the second one.
enum TimedOperation {
  kTimedAllReduce,
  kTimedAllGather,
  kTimedReduceScatter,
  kTimedAllToAll,
  kTimedMessage,
  kTimedOperations
};

/// The least seconds of operations of two sizes between the members of some groups.
struct WayTimes {
  double small[kTimedOperations] = {}, large[kTimedOperations] = {};
};

/// The bytes of a small operation: of the larger one of its buffers.
constexpr uint64_t kSmallBytes = 4 << 10;

struct RankTimes {
  uint64_t largeBytes = 0; ///< of a large operation
  WayTimes inside;         ///< the ranks of each host, all hosts at the same time
  WayTimes alone;          ///< one rank of each host
  WayTimes together;       ///< ranks with equal numbers on their hosts, all at the same time
  double slowdown = 1;     ///< of computation while an all-reduce of all ranks is under way
};

/// One rank of a measurement over `options.hosts` hosts of `options.ranks` ranks. All ranks must do
/// the same.
class MeasuringRank {
public:
  /// Rank `self` of all hosts meets the others at `rendezvous`.
  MeasuringRank(const DescribeOptions &options, uint32_t self, const std::string &rendezvous);
  ~MeasuringRank() { dpc_comm_release(comm); }
  MeasuringRank(const MeasuringRank &) = delete;
  MeasuringRank &operator=(const MeasuringRank &) = delete;

  /// Measures each way that exists. All ranks get the same times.
  dpc_status_t measure(RankTimes *out);

private:
  /// A family of groups, and whether only the first rank of each host takes part.
  struct Way {
    uint32_t family;
    bool isAlone;
  };
  dpc_status_t open();
  dpc_status_t add(double *value);
  dpc_status_t meet();
  dpc_status_t agree(double *value);
  dpc_status_t measureWay(const Way &way, WayTimes *out);
  dpc_status_t leastSeconds(const Way &way, int what, uint64_t bytes, double *out);
  dpc_status_t block(const Way &way, int what, uint64_t bytes, int runs, double *outSeconds);
  dpc_status_t run(const Way &way, int what, uint64_t bytes);
  dpc_status_t measureSlowdown(double *out);
  uint32_t indexIn(uint32_t family) const;
  dpc_comm_op_t operation(uint32_t family, int what, uint64_t bytes) const;

  const uint32_t hosts, perHost;
  std::vector<uint32_t> members; ///< all ranks, host by host
  std::vector<uint32_t> across;  ///< the ranks with equal numbers on their hosts
  std::vector<uint64_t> memory;
  const std::string rendezvous, token, listen, transport;
  dpc_group_family_t families[3];
  dpc_comm_options_t place = {};
  dpc_comm_t *comm = nullptr;
  float *from = nullptr, *to = nullptr;
  double *vote = nullptr;
  uint64_t largeBytes = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DESCRIBE_MEASURINGRANK_H
