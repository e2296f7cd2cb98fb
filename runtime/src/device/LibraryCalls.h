#ifndef DPC_RUNTIME_SRC_DEVICE_LIBRARYCALLS_H
#define DPC_RUNTIME_SRC_DEVICE_LIBRARYCALLS_H

#include "dpc/status.h"
#include "runtime/src/cuda/Driver.h"

#include <string>
#include <vector>

namespace dpc {

/// A library call of a program, with the properties of its buffers on which the
/// library's choice of an algorithm depends.
struct WantedCall {
  struct Buffer {
    /// A power of two that divides the address of the buffer.
    uint64_t alignment = 0;
    uint64_t bytes = 0; ///< size of the buffer
  };
  const void *description = nullptr; ///< the C struct of the kind, e.g. a dpc_product_t
  std::vector<Buffer> buffers;
};

/// The algorithm with which a library computes a call.
struct CallChoice {
  /// The library's own description of the algorithm, as bytes: a cublasLtMatmulAlgo_t, or a plan
  /// of cuDNN as text. Empty if the library does not support the call, so that the kernel of the
  /// launch runs instead.
  std::string algorithm;

  bool isMade() const { return !algorithm.empty(); }
};

/// All library calls of one kind that a program makes on a device, and the library
/// that computes them. The calls are numbered 0, 1, .. in the order of `add`. A derived
/// class implements one kind.
class LibraryCalls {
public:
  LibraryCalls() = default;
  virtual ~LibraryCalls() = default;
  LibraryCalls(const LibraryCalls &) = delete;
  LibraryCalls &operator=(const LibraryCalls &) = delete;

  /// Opens the library for this thread's device. Returns DPC_INVALID, with a message
  /// of one line, if the library is not installed.
  virtual dpc_status_t open() = 0;
  /// The version of the opened library; not 0.
  virtual uint64_t getVersion() const = 0;
  /// Adds a call and returns its number. If an equal call was added before, returns
  /// the number of that call.
  virtual uint32_t add(const WantedCall &wanted) = 0;
  /// The number of distinct calls.
  virtual size_t size() const = 0;

  /// Sets `out` to at most `most` algorithms for call `number`. The first one is the
  /// algorithm that the library expects to be fastest. `out` is empty if the library
  /// does not support the call.
  virtual dpc_status_t findChoices(uint32_t number, size_t most, std::vector<CallChoice> *out) = 0;
  /// Enqueues call `number` on a stream, with its chosen algorithm. isMade(number) must
  /// be true. `buffers` has the addresses of the call's buffers.
  virtual dpc_status_t run(uint32_t number, const cuda::DevicePointer *buffers,
                           cuda::Stream stream) = 0;

  /// Returns the text that identifies call `number` in a file of measured calls
  /// (TunedCalls). Equal calls have equal keys in all programs. Calls of different
  /// kinds have different keys. A key contains no tabs.
  virtual std::string getKey(uint32_t number) const = 0;
  /// Describes call `number` in words, for people who read a file of measured calls.
  virtual std::string describe(uint32_t number) const = 0;

  /// Lets the library choose an algorithm for each call. The kernels of the program
  /// still compute the calls that the library does not support.
  dpc_status_t choose();
  /// Uses the algorithm `choice` for call `number` from now on. Returns DPC_INVALID if
  /// the library does not support this algorithm on this device.
  dpc_status_t take(uint32_t number, const CallChoice &choice);
  /// The chosen algorithm of each call. Rank 0 sends these to the other ranks.
  const std::vector<CallChoice> &getChoices() const { return choices; }
  /// Uses the algorithms that another rank chose. `all` has one entry per call.
  dpc_status_t adopt(const std::vector<CallChoice> &all);
  /// Whether the library computes call `number`. If not, a kernel computes it.
  bool isMade(uint32_t number) const { return number < choices.size() && choices[number].isMade(); }

protected:
  /// Prepares the library to compute call `number` with the algorithm `choice`. Returns
  /// DPC_INVALID if the library does not support it on this device.
  virtual dpc_status_t prepare(uint32_t number, const CallChoice &choice) = 0;

private:
  std::vector<CallChoice> choices;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_LIBRARYCALLS_H
