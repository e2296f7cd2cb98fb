#ifndef DPC_TEST_CUDA_EMULATOR_DRIVER_CALLS_H
#define DPC_TEST_CUDA_EMULATOR_DRIVER_CALLS_H

// What every function of the driver does first.

#include "test/cuda_emulator/driver/Api.h"
#include "test/cuda_emulator/driver/Streams.h"

namespace dpc::emulator {

/// The range of the priorities of streams.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

inline StreamState *stateOf(cuda::Stream stream) { return reinterpret_cast<StreamState *>(stream); }
inline EventState *stateOf(cuda::Event event) { return reinterpret_cast<EventState *>(event); }

/// From now on every call that needs the context fails, and no kernel runs: a
/// kernel has touched memory that is not there.
void loseContext();
bool isContextLost();

/// Notes the call and answers what every function must check first: that the
/// driver was initialised and a context is current.
cuda::Result enter();
/// The same for a call that must not happen while this thread captures, such as
/// an allocation: the capture is lost.
cuda::Result enterOutsideCapture();
/// The same for a call that waits for `stream` or looks at it.
cuda::Result enterWaiting(cuda::Stream stream);
/// Whether a stream may be given work; no other than those that are created may.
cuda::Result checkStream(cuda::Stream stream);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_DRIVER_CALLS_H
