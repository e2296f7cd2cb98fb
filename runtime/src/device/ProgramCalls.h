#ifndef DPC_RUNTIME_SRC_DEVICE_PROGRAMCALLS_H
#define DPC_RUNTIME_SRC_DEVICE_PROGRAMCALLS_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "runtime/src/device/CallKind.h"
#include "runtime/src/device/LibraryCalls.h"

#include <functional>
#include <memory>
#include <vector>

namespace dpc {

/// Decides for each library call among a program's launches whether the library or a
/// kernel computes it. Either all ranks use the library of a kind or none of them does.
/// All ranks of a stage decide alike: each call has the algorithm that the first rank of the
/// stage chose. So if several ranks compute the same value redundantly, they get the same
/// bits.
class ProgramCalls {
public:
  /// The calls of one kind that this rank's stage makes. All ranks use the library of this
  /// kind.
  struct OfKind {
    const CallKind *kind;
    std::unique_ptr<LibraryCalls> calls;
    /// For each call, by its number: the index of one launch that makes the call.
    std::vector<uint64_t> examples;
  };
  /// A function that changes the algorithms that were chosen for the calls of a kind.
  using Refine = std::function<dpc_status_t(const OfKind &)>;

  /// Opens the library of each kind of calls that the program has, and lets the first rank
  /// of each stage choose the algorithms of the stage's calls. If `refine` is not empty,
  /// this rank calls it after the library has chosen. `window` is memory of `control` for messages
  /// of at most `windowBytes` bytes. All ranks must call this function together. If a library is
  /// not installed on all ranks in one version, kernels compute the calls of its kind, and rank 0
  /// tells the user.
  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &control, char *window,
                    uint64_t windowBytes, const Refine &refine);

  /// Whether a library computes the launch with the index `launch`.
  bool makes(uint64_t launch) const {
    return launch < places.size() && places[launch].calls &&
           places[launch].calls->isMade(places[launch].number);
  }
  /// Enqueues the library call of a launch for which `makes` is true.
  dpc_status_t run(uint64_t launch, const cuda::DevicePointer *buffers, cuda::Stream stream) {
    return places[launch].calls->run(places[launch].number, buffers, stream);
  }
  /// Returns, for each call that a library computes, the index of one launch that makes
  /// the call.
  std::vector<uint64_t> getExamples() const;

private:
  /// The call that a launch makes: call `number` of `calls`. `calls` is null if no
  /// library can compute the launch.
  struct Place {
    LibraryCalls *calls = nullptr;
    uint32_t number = 0;
  };

  dpc_status_t open(const CallKind &kind, const dpc_program_t &program, dpc_comm_t &control,
                    char *window, uint64_t windowBytes, const Refine &refine);

  std::vector<OfKind> kinds;
  std::vector<Place> places; ///< one per launch
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_PROGRAMCALLS_H
