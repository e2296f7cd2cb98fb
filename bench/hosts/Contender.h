// The ways in which ranks on several hosts sum a buffer, see HostsDriver.cpp.
#ifndef DPC_BENCH_HOSTS_CONTENDER_H
#define DPC_BENCH_HOSTS_CONTENDER_H

#include <cstdint>
#include <memory>
#include <string>

namespace dpc::bench {

constexpr uint64_t kLargest = 256ull << 20;

/// How a rank starts.
struct Start {
  std::string way; ///< the name of a contender
  uint32_t rank, ranks;
  std::string folder;  ///< which all hosts see
  std::string address; ///< of this host
  std::string place;   ///< the address and port at which rank 0 may listen
};

/// One rank of a contender.
class Contender {
public:
  virtual ~Contender() = default;
  /// Memory of kLargest bytes.
  virtual float *memory() = 0;
  /// Sums the first `bytes` of the memory over the ranks, in place.
  virtual void run(uint64_t bytes) = 0;
  /// How many ranks a sum is over. 0 if the contender moves the bytes only.
  virtual uint32_t summed() const = 0;
};

/// Prints the reason, and ends this rank.
[[noreturn]] void giveUp(const Start &start, const std::string &reason);

/// dpc over a transport: "COMM", or "COMM/SIZE" for groups of SIZE ranks.
std::unique_ptr<Contender> makeDpc(const Start &start);
/// Two ranks that exchange over one connection the bytes that an all-reduce moves at least.
std::unique_ptr<Contender> makeSocket(const Start &start);
/// MPI_Allreduce of the MPI whose mpirun has started this rank: Open MPI or MPICH.
std::unique_ptr<Contender> makeMpi(const Start &start);
/// An algorithm of Gloo: "gloo-ring", "gloo-bcube", "gloo-ring-chunked", "gloo-halving". Null for
/// another name, or if Gloo was not found when this was built.
std::unique_ptr<Contender> makeGloo(const Start &start);

} // namespace dpc::bench

#endif // DPC_BENCH_HOSTS_CONTENDER_H
