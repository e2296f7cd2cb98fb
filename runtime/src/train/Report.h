#ifndef DPC_RUNTIME_SRC_TRAIN_REPORT_H
#define DPC_RUNTIME_SRC_TRAIN_REPORT_H

#include "dpc/status.h"
#include "runtime/src/train/Pace.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace dpc {

/// The names and values of metrics, in the order of the program.
using MetricValues = std::vector<std::pair<const char *, double>>;

/// The numbers of one step.
struct StepReport {
  uint64_t step = 0; ///< from 1
  double epoch = 0;  ///< passes through the data so far
  double seconds = 0;
  double samplesPerSecond = 0;
  double learningRate = 0;
  const MetricValues *metrics = nullptr;    ///< metrics of the step, "loss" first
  const MetricValues *evaluation = nullptr; ///< null: no evaluation followed this step
};

/// The output of rank 0. It has a JSONL log with the numbers of each step. It also shows
/// the progress and the recent speed: as a bar on a terminal, otherwise as a line from
/// time to time.
class Report {
public:
  ~Report();
  /// Opens the log as a new file. With `resume`, opens the existing log and removes the
  /// lines of all steps after `resumedStep`, which is the last step before this run.
  dpc_status_t openLog(const std::string &path, bool resume, uint64_t resumedStep);
  /// Opens the log to append lines.
  dpc_status_t extendLog(const std::string &path);
  void begin(uint64_t firstStep, uint64_t lastStep, uint64_t batch);
  /// Shows the progress after a step.
  void show(const StepReport &report);
  /// Writes the log line of a step. Returns DPC_IO if the log cannot be written.
  dpc_status_t step(const StepReport &report);
  /// Writes a log line for an evaluation that follows no step of this run. `epoch` is null
  /// if the run has no training data. Returns DPC_IO if the log cannot be written.
  dpc_status_t evaluation(uint64_t step, const double *epoch, const MetricValues &values);
  /// Flushes the log to the disk. Returns DPC_IO if this fails.
  dpc_status_t syncLog();
  /// Ends the progress bar, if it is shown, and prints a line below it.
  void line(const std::string &text);
  void end();
  dpc_status_t closeLog();

private:
  dpc_status_t open(const std::string &path, const char *mode);
  void beginLine(uint64_t step);
  void addValues(const char *prefix, const MetricValues &values);
  dpc_status_t endLine();
  void draw(const StepReport &report);

  std::FILE *log = nullptr;
  std::string logPath;
  bool terminal = false, barShown = false;
  uint64_t firstStep = 0, lastStep = 0, batch = 0;
  double lastStepAt = 0, lastShown = 0;
  size_t barCells = 24; ///< width of the progress bar; 0: the terminal has no room for a bar
  Pace pace;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_REPORT_H
