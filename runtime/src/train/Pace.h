#ifndef DPC_RUNTIME_SRC_TRAIN_PACE_H
#define DPC_RUNTIME_SRC_TRAIN_PACE_H

#include <cmath>
#include <cstdint>

namespace dpc {

/// How fast a run goes: an exponential moving average over the last seconds,
/// whatever the length of a step. A step weighs as long as it took, so that
/// samples / seconds stays a rate of the time that passed.
class Pace {
public:
  /// After about so many seconds a change of speed shows in full.
  static constexpr double kWindowSeconds = 5;

  /// A step that took `seconds`, and `pauseSeconds` since the one before it
  /// (evaluation, checkpoints).
  void add(double seconds, double pauseSeconds) {
    const double keep = std::exp(-seconds / kWindowSeconds);
    recentSteps = recentSteps * keep + 1;
    recentSeconds = recentSeconds * keep + seconds;
    pauses += pauseSeconds;
    ++steps;
  }
  /// Steps a second while computing; 0 before the first step.
  double stepsPerSecond() const { return recentSeconds > 0 ? recentSteps / recentSeconds : 0; }
  /// Seconds that `count` more steps take at this speed, with pauses as long as
  /// they were on average.
  double secondsFor(uint64_t count) const {
    return steps == 0 ? 0 : double(count) * (recentSeconds / recentSteps + pauses / double(steps));
  }

private:
  double recentSteps = 0, recentSeconds = 0, pauses = 0;
  uint64_t steps = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_PACE_H
