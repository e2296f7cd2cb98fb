#ifndef DPC_RUNTIME_SRC_TRAIN_PACE_H
#define DPC_RUNTIME_SRC_TRAIN_PACE_H

#include <cmath>
#include <cstdint>

namespace dpc {

/// The speed of a run, as an exponential moving average over the last seconds. Steps may
/// take different times. The weight of a step falls with the time that later steps took.
/// The average is the sum of steps divided by the sum of seconds, so it is a true rate.
class Pace {
public:
  /// Time constant of the average: about this time after a change of speed, the average
  /// shows the new speed.
  static constexpr double kWindowSeconds = 5;

  /// Adds a step that took `seconds`. `pauseSeconds` is the time between the previous step
  /// and this one, e.g. for an evaluation or a checkpoint.
  void add(double seconds, double pauseSeconds) {
    const double keep = std::exp(-seconds / kWindowSeconds);
    recentSteps = recentSteps * keep + 1;
    recentSeconds = recentSeconds * keep + seconds;
    pauses += pauseSeconds;
    ++steps;
  }
  /// Steps per second without pauses; 0 before the first step.
  double stepsPerSecond() const { return recentSeconds > 0 ? recentSteps / recentSeconds : 0; }
  /// Estimates the seconds for `count` more steps at this speed. Includes the average
  /// pause per step.
  double secondsFor(uint64_t count) const {
    return steps == 0 ? 0 : double(count) * (recentSeconds / recentSteps + pauses / double(steps));
  }

private:
  double recentSteps = 0, recentSeconds = 0, pauses = 0;
  uint64_t steps = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_PACE_H
