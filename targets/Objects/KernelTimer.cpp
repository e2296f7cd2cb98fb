// Loads kernels with ORC, and calls them.

#include "targets/Objects/KernelTimer.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <unistd.h>

#include <sys/mman.h>

using namespace dpc;

namespace {

using Clock = std::chrono::steady_clock;
using Function = void (*)(char *const *);

constexpr size_t kAlignment = 64;
/// Calls go on until they took this long, and were so many.
constexpr double kSecondsPerKernel = 0.02;
constexpr unsigned kLeastCalls = 3, kMostCalls = 25;

int64_t bytesOf(mlir::Type element, int64_t count) {
  const unsigned bits = element.getIntOrFloatBitWidth();
  return count * ((bits + 7) / 8);
}

/// Memory of huge pages, if the system has them, as the memory of a rank is. With small pages, a
/// kernel of many bytes would spend its time on looking up their addresses.
class Memory {
public:
  explicit Memory(size_t bytes) : bytes(std::max<size_t>(bytes, 1)) {
    void *mapped = mmap(nullptr, this->bytes + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      llvm::report_bad_alloc_error("no memory for the operands of a kernel");
    block = static_cast<char *>(mapped);
    madvise(data(), this->bytes, MADV_HUGEPAGE);
    std::memset(data(), 0, this->bytes); // touches the pages
  }
  Memory(const Memory &) = delete;
  ~Memory() { munmap(block, bytes + kHugePage); }

  char *data() const {
    return block + (kHugePage - reinterpret_cast<uintptr_t>(block) % kHugePage) % kHugePage;
  }
  size_t size() const { return bytes; }

private:
  static constexpr size_t kHugePage = 2 << 20;
  size_t bytes;
  char *block;
};

/// Writes random integers from 0 to `limit` - 1, in the byte order of this host.
void fillIntegers(char *to, int64_t size, int64_t count, int64_t limit) {
  std::minstd_rand random(1);
  std::uniform_int_distribution<int64_t> below(0, limit - 1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = below(random);
    std::memcpy(to + i * size, &value, size); // the lowest bytes come first
  }
}

/// Writes numbers from 1/2 to 3/2, or integers below `limit`; zeros if it is 0.
void fill(char *to, mlir::Type element, int64_t count, int64_t limit) {
  if (!llvm::isa<mlir::FloatType>(element)) {
    if (limit > 0)
      fillIntegers(to, bytesOf(element, 1), count, limit);
    return;
  }
  const auto &semantics = llvm::cast<mlir::FloatType>(element).getFloatSemantics();
  const int64_t size = bytesOf(element, 1);
  // A short pattern is enough, because the time of arithmetic depends on no value of this range.
  constexpr int64_t kPattern = 61;
  std::vector<char> pattern(kPattern * size);
  for (int64_t i = 0; i < kPattern; ++i) {
    bool isInexact;
    llvm::APFloat value(0.5 + double(i) / kPattern);
    value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &isInexact);
    const llvm::APInt bits = value.bitcastToAPInt();
    std::memcpy(&pattern[i * size], bits.getRawData(), size);
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * size, &pattern[i % kPattern * size], size);
}

/// One thread's buffers of a kernel.
class Buffers {
public:
  explicit Buffers(const TimedKernel &kernel) : memory(offsetsOf(kernel).back()) {
    const std::vector<size_t> offsets = offsetsOf(kernel);
    for (size_t offset : llvm::ArrayRef(offsets).drop_back())
      pointers.push_back(memory.data() + offset);
    for (auto [index, buffer] : llvm::enumerate(kernel.buffers))
      fill(pointers[index], buffer.first, buffer.second,
           index < kernel.limits.size() ? kernel.limits[index] : 0);
  }
  char *const *get() const { return pointers.data(); }

private:
  /// The offsets of the buffers and of the scratch memory, and the bytes of all.
  static std::vector<size_t> offsetsOf(const TimedKernel &kernel) {
    std::vector<size_t> offsets = {0};
    auto add = [&](size_t bytes) {
      offsets.push_back(llvm::alignTo(offsets.back() + bytes, kAlignment));
    };
    for (auto [element, count] : kernel.buffers)
      add(bytesOf(element, count));
    if (kernel.scratchBytes)
      add(kernel.scratchBytes);
    return offsets;
  }

  Memory memory;
  std::vector<char *> pointers;
};

/// Reads all lines of `memory`, so that other data leaves the cache.
void readAll(const Memory &memory) {
  char sum = 0;
  for (size_t i = 0; i < memory.size(); i += kAlignment)
    sum = char(sum + memory.data()[i]);
  static std::atomic<char> sink;
  sink = sum;
}

/// Lets threads begin their calls together.
class Barrier {
public:
  explicit Barrier(unsigned threads) : threads(threads) {}
  void wait() {
    const unsigned round = rounds;
    if (++arrived == threads) {
      arrived = 0;
      ++rounds;
      return;
    }
    while (rounds == round)
      std::this_thread::yield();
  }

private:
  const unsigned threads;
  std::atomic<unsigned> arrived = 0, rounds = 0;
};

/// The mean of the threads' median seconds.
double callKernel(const TimedKernel &kernel, Function function, unsigned threads,
                  const Memory &evicting) {
  std::vector<double> medians(threads);
  Barrier barrier(threads);
  std::atomic<unsigned> calls = kLeastCalls;
  auto run = [&](unsigned thread) {
    Buffers buffers(kernel);
    const auto begin = Clock::now();
    function(buffers.get()); // touches pages and loads code
    if (thread == 0) {
      const double once = std::chrono::duration<double>(Clock::now() - begin).count();
      calls = unsigned(std::clamp(kSecondsPerKernel / std::max(once, 1e-9), double(kLeastCalls),
                                  double(kMostCalls)));
    }
    barrier.wait();
    std::vector<double> seconds(calls);
    for (double &each : seconds) {
      readAll(evicting);
      barrier.wait();
      const auto start = Clock::now();
      function(buffers.get());
      each = std::chrono::duration<double>(Clock::now() - start).count();
      barrier.wait();
    }
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    medians[thread] = seconds[seconds.size() / 2];
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread)
    others.emplace_back(run, thread);
  run(0);
  for (std::thread &other : others)
    other.join();
  return std::accumulate(medians.begin(), medians.end(), 0.) / threads;
}

} // namespace

llvm::Expected<std::vector<double>> dpc::timeKernels(llvm::ArrayRef<TimedKernel> kernels,
                                                     unsigned threads, unsigned rounds) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  auto library = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!library)
    return library.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*library));
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const Memory evicting(2 * (cache > 0 ? cache : 1 << 21));
  std::vector<Function> functions;
  for (const TimedKernel &kernel : kernels) {
    if (llvm::Error error = (*jit)->addObjectFile(
            llvm::MemoryBuffer::getMemBufferCopy(kernel.object->object, kernel.object->symbol)))
      return std::move(error);
    auto symbol = (*jit)->lookup(kernel.object->symbol);
    if (!symbol)
      return symbol.takeError();
    functions.push_back(symbol->toPtr<Function>());
  }
  std::vector<double> seconds(kernels.size(), std::numeric_limits<double>::infinity());
  for (unsigned round = 0; round < std::max(1u, rounds); ++round)
    for (auto [least, kernel, function] : llvm::zip_equal(seconds, kernels, functions))
      least = std::min(least, callKernel(kernel, function, std::max(1u, threads), evicting));
  return seconds;
}
