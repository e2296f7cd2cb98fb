#ifndef DPC_TEST_CUDA_EMULATOR_EXECUTION_ACCESSTRACE_H
#define DPC_TEST_CUDA_EMULATOR_EXECUTION_ACCESSTRACE_H

#include "test/cuda_emulator/execution/AccessCounts.h"

#include <memory>
#include <vector>

namespace dpc::emulator {

struct Block;
struct ThreadContext;

/// Joins the accesses of a block's threads, which run one after another, into accesses of warps.
///
/// The n-th execution of an instruction by each lane of a warp is one access, where n counts from
/// the last point at which all lanes met: a barrier or an operation of the warp. A device does the
/// same, unless lanes take different paths without a point between. There are two such cases: lanes
/// that skip an instruction in some iterations of a loop, and inner loops whose number of
/// iterations depends on the lane. Their accesses are joined, although a device runs them apart.
///
/// An access is counted and dropped when all lanes have arrived. A lane that is far ahead of
/// another is left until the other follows, so that few accesses are kept.
class AccessTrace {
public:
  AccessTrace(size_t instructions, std::vector<uint32_t> lanesOfWarps);

  /// A thread accesses memory. The thread may be left before this returns.
  void add(ThreadContext *thread, uint64_t address, uint32_t bytes, bool isShared,
           uint32_t instruction, int line);
  void addLocal(uint32_t bytes) { counts.local += bytes; }
  /// All lanes of a warp are at the same point.
  void meet(size_t warp);
  /// The same for all warps.
  void meetAll();
  /// No thread can go on: counts incomplete accesses for which threads wait. False if no thread
  /// waits for that reason.
  bool release();

  AccessCounts counts;

private:
  /// Accesses of one instruction by one warp to one memory.
  struct Site {
    uint32_t instruction;
    bool isShared;
    bool isListed = false;           // in `open`
    bool isFull = false;             // a lane waits
    uint64_t first = 0;              // executions that were counted
    uint32_t counted = 0;            // changes with `first`; lanes wait for it
    uint64_t next[kWarpLanes] = {};  // per lane, the execution that is next
    std::vector<WarpAccess> pending; // from the execution `first` on, behind `done` others
    size_t done = 0;

    size_t open() const { return pending.size() - done; }
  };
  struct Warp {
    uint32_t lanes;
    std::vector<std::unique_ptr<Site>> sites; // two per instruction
    std::vector<Site *> open;                 // those that may have pending accesses
  };
  void countFirst(Site &site);
  void flush(Site &site);

  std::vector<Warp> warps;
};

/// What compiled code calls for an access, with DPC_EMU_COUNT. Only the first `lanes` lanes of a
/// warp access memory; `space` is an AddressSpace.
void countAccess(ThreadContext *thread, uint64_t address, uint32_t bytes, uint32_t space,
                 uint32_t lanes, uint32_t instruction, int line);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_EXECUTION_ACCESSTRACE_H
