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

/// Decides which library calls among a program's launches the libraries
/// compute. All ranks decide alike: either the library of a kind is used on all
/// ranks or on none, and each call has rank 0's algorithm on all. So a value
/// that several ranks compute redundantly has the same bits on all of them.
class ProgramCalls {
public:
  /// The calls of one kind, whose library all ranks use.
  struct OfKind {
    const CallKind *kind;
    std::unique_ptr<LibraryCalls> calls;
    /// For each call by its number: a launch that makes it.
    std::vector<uint64_t> examples;
  };
  /// Changes the choices of a kind's calls.
  using Refine = std::function<dpc_status_t(const OfKind &)>;

  /// Opens the library of each kind of calls that the program has, and lets
  /// rank 0 choose their algorithms. If `refine` is not empty, rank 0 calls it
  /// after the library's own choice. `window` is memory of `control` for
  /// messages of at most `windowBytes` bytes. Collective. If a library is not
  /// installed, rank 0 tells the user that kernels compute the calls.
  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &control, char *window,
                    uint64_t windowBytes, const Refine &refine);

  /// Whether a library computes an entry of the launch table.
  bool makes(uint64_t launch) const {
    return launch < places.size() && places[launch].calls &&
           places[launch].calls->isMade(places[launch].number);
  }
  dpc_status_t run(uint64_t launch, const cuda::DevicePointer *buffers, cuda::Stream stream) {
    return places[launch].calls->run(places[launch].number, buffers, stream);
  }
  /// One launch for each call that a library computes.
  std::vector<uint64_t> getExamples() const;

private:
  /// The call that a launch makes.
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
