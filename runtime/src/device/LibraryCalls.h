#ifndef DPC_RUNTIME_SRC_DEVICE_LIBRARYCALLS_H
#define DPC_RUNTIME_SRC_DEVICE_LIBRARYCALLS_H

#include "dpc/status.h"
#include "runtime/src/cuda/Driver.h"

#include <string>
#include <vector>

namespace dpc {

/// A library call of a program, with the properties of its buffers that matter
/// to a library.
struct WantedCall {
  struct Buffer {
    /// A power of two that divides the address.
    uint64_t alignment = 0;
    uint64_t bytes = 0;
  };
  const void *description = nullptr; ///< the kind's struct
  std::vector<Buffer> buffers;
};

/// The algorithm with which a library computes a call.
struct CallChoice {
  /// The library's own description of the algorithm. It has 64 bytes, as
  /// cublasLtMatmulAlgo_t.
  uint64_t algorithm[8] = {};
  /// 0: the library does not support the call, so the program's kernel runs.
  uint32_t isMade = 0;
  uint32_t reserved = 0;
};

/// All library calls of one kind that a program makes on a device. Calls have
/// numbers.
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
  /// Adds a call and returns its number. Equal calls share a number.
  virtual uint32_t add(const WantedCall &wanted) = 0;
  virtual size_t size() const = 0;

  /// Returns at most `most` algorithms for a call, the one that the library
  /// expects to be fastest first. Returns no algorithm if the library does not
  /// support the call.
  virtual dpc_status_t findChoices(uint32_t number, size_t most, std::vector<CallChoice> *out) = 0;
  /// Enqueues a call, for which isMade is true, on a stream.
  virtual dpc_status_t run(uint32_t number, const cuda::DevicePointer *buffers,
                           cuda::Stream stream) = 0;

  /// The text that stands for the call in the file of measured calls (TunedCalls). It
  /// has no tabs, because tabs separate the fields of a line. Equal calls have the
  /// same text, and calls of different kinds have different texts.
  virtual std::string getKey(uint32_t number) const = 0;
  /// Describes the call for readers of that file.
  virtual std::string describe(uint32_t number) const = 0;

  /// Lets the library choose an algorithm for each call. Calls that it does not
  /// support remain with the program's kernels.
  dpc_status_t choose();
  /// Uses an algorithm for a call from now on. Returns DPC_INVALID if this device's
  /// library does not support the algorithm.
  dpc_status_t take(uint32_t number, const CallChoice &choice);
  /// The chosen algorithm of each call, so that other ranks can use the same.
  const std::vector<CallChoice> &getChoices() const { return choices; }
  /// Uses the choices of another rank; one per call.
  dpc_status_t adopt(const CallChoice *all);
  bool isMade(uint32_t number) const { return number < choices.size() && choices[number].isMade; }

protected:
  /// Returns DPC_INVALID if this device's library does not support an algorithm for a
  /// call.
  virtual dpc_status_t check(uint32_t number, const CallChoice &choice) = 0;

private:
  std::vector<CallChoice> choices;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_LIBRARYCALLS_H
