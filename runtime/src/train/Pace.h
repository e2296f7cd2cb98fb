#ifndef DPC_RUNTIME_SRC_TRAIN_PACE_H
#define DPC_RUNTIME_SRC_TRAIN_PACE_H

#include <cmath>
#include <cstdint>

namespace dpc {

/// The speed of a run: an exponential moving average over the last seconds, for
/// steps of any length. A step is weighted by its duration, so that samples /
/// seconds remains a rate per elapsed time.
class Pace {
public:
  /// Time constant of the average: a change of speed takes about so long to
  /// show.
  static constexpr double kWindowSeconds = 5;

  /// Adds a step that took `seconds`, and the `pauseSeconds` since the step
  /// before it (evaluation, checkpoints).
  void add(double seconds, double pauseSeconds) {
    const double keep = std::exp(-seconds / kWindowSeconds);
    recentSteps = recentSteps * keep + 1;
    recentSeconds = recentSeconds * keep + seconds;
    pauses += pauseSeconds;
    ++steps;
  }
  /// Steps per second of computation; 0 before the first step.
  double stepsPerSecond() const { return recentSeconds > 0 ? recentSteps / recentSeconds : 0; }
  /// Estimated seconds for `count` more steps at this speed, including the
  /// average pause per step.
  double secondsFor(uint64_t count) const {
    return steps == 0 ? 0 : double(count) * (recentSeconds / recentSteps + pauses / double(steps));
  }

private:
  double recentSteps = 0, recentSeconds = 0, pauses = 0;
  uint64_t steps = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_PACE_H
