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

/// Values of metrics with their names, in the order of the program.
using MetricValues = std::vector<std::pair<const char *, double>>;

/// The numbers of one step.
struct StepReport {
  uint64_t step = 0; ///< from 1
  double epoch = 0;  ///< passes through the data so far
  double seconds = 0;
  double samplesPerSecond = 0;
  double learningRate = 0;
  const MetricValues *metrics = nullptr;    ///< "loss" first
  const MetricValues *evaluation = nullptr; ///< null: this step has no evaluation
};

/// Rank 0's output: a JSONL log with the numbers of each step, and progress
/// with the recent speed, as a bar on a terminal or else as an occasional line.
class Report {
public:
  ~Report();
  /// Opens the log: a new file, or with `resume` the existing one without its
  /// lines after `resumedStep`, the last step before this run.
  dpc_status_t openLog(const std::string &path, bool resume, uint64_t resumedStep);
  /// Opens the log to append to it.
  dpc_status_t extendLog(const std::string &path);
  void begin(uint64_t firstStep, uint64_t lastStep, uint64_t batch);
  /// Shows the progress after a step.
  void show(const StepReport &report);
  /// Writes the log line of a step. DPC_IO if the log cannot be written.
  dpc_status_t step(const StepReport &report);
  /// Writes a log line for an evaluation that belongs to no step of this run.
  /// `epoch` is null if the run has no training data. DPC_IO as above.
  dpc_status_t evaluation(uint64_t step, const double *epoch, const MetricValues &values);
  /// Flushes the log to the disk. DPC_IO if that fails.
  dpc_status_t syncLog();
  /// Prints a separate line after clearing the progress bar.
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
  size_t barCells = 24; ///< width of the progress bar; 0: no room for one
  Pace pace;
};

/// A size for messages: "12.3 MiB"
std::string bytesText(uint64_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_REPORT_H
