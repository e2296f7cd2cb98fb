#ifndef DPC_TEST_CUDA_EMULATOR_EXECUTION_CONTEXT_H
#define DPC_TEST_CUDA_EMULATOR_EXECUTION_CONTEXT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dpc::emulator {

struct AccessCounts;
struct Block;

/// What compiled code of a kernel knows of the thread that it runs as. The
/// translator reads the fields up to `shared` by their offsets.
struct ThreadContext {
  uint32_t thread[4], threads[4], block[4], blocks[4]; // x, y, z of %tid, %ntid, %ctaid, %nctaid
  uint32_t lane, warp;
  uint32_t dynamicShared;    // bytes
  uint32_t index;            // of the thread in its block
  uint64_t delta;            // from a device address to where the host may reach it
  char *shared;              // shared memory of the block
  const uint64_t *variables; // device addresses of the module's variables

  Block *owner;
  /// A copy of cp.async that was started: it happens when it is waited for.
  struct Copy {
    char *to;
    const char *from;
    uint32_t bytes, used, group; // of `bytes`, `used` are copied, the others zeroed
  };
  std::vector<Copy> copies;
  uint32_t copyGroup = 0;
};

/// The code of a kernel: runs one thread from its start to its end.
using KernelCode = void (*)(ThreadContext *, const char *parameters);

/// A kernel that can be launched.
struct Kernel {
  std::string name;
  KernelCode code = nullptr;
  std::vector<std::pair<uint32_t, uint32_t>> parameters; // offset and bytes
  uint32_t parameterBytes = 0;
  uint32_t staticShared = 0; // bytes
  uint32_t maxThreads = 1024, requiredThreads = 0;
  bool meets = false; // threads wait for each other: a barrier or an operation of a warp
  std::vector<uint64_t> variables;
  uint32_t localBytes = 0; // per thread
  /// Lines and texts of the PTX instructions; empty unless accesses are counted.
  std::vector<std::pair<int, std::string>> instructions;
};

/// The windows of shared and local memory in the generic address space.
inline constexpr uint64_t kSharedWindow = 0x7e0000000000, kLocalWindow = 0x7d0000000000,
                          kWindowBytes = 1 << 24;
/// Most shared memory of a block, static and dynamic: sm_90's 227 KB; see driver/Device.h.
inline constexpr uint64_t kSharedBytes = 227 << 10;

/// How code reaches memory, for checks.
enum class Access : uint32_t { load, store, atomic };
enum class AddressSpace : uint32_t { global, shared, generic, local };

/// Runs the threads of a grid, all or those of DPC_EMU_BLOCKS, and returns when the last one has
/// ended. Null unless accesses are counted.
std::unique_ptr<AccessCounts> launch(const Kernel &kernel, const uint32_t grid[3],
                                     const uint32_t block[3], uint32_t dynamicShared,
                                     std::vector<char> parameters);

/// A function that compiled code calls by name.
struct RuntimeFunction {
  const char *name;
  void *address;
};
std::vector<RuntimeFunction> runtimeFunctions();

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_EXECUTION_CONTEXT_H
