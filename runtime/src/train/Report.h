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

/// Values of metrics by name, in the order of the program.
using MetricValues = std::vector<std::pair<const char *, double>>;

/// One step's numbers.
struct StepReport {
  uint64_t step = 0; ///< from 1
  double epoch = 0;  ///< passes through the data so far
  double seconds = 0;
  double samplesPerSecond = 0;
  double learningRate = 0;
  const MetricValues *metrics = nullptr;    ///< "loss" first
  const MetricValues *evaluation = nullptr; ///< null: none at this step
};

/// Rank 0's output: the JSONL log with each step's own numbers, and a progress
/// bar on a terminal or a plain line now and then, with the speed of late.
class Report {
public:
  ~Report();
  /// Opens the log: a new one, or, after `resumedStep` steps that other runs have
  /// logged, one from which lines of later steps are dropped.
  dpc_status_t openLog(const std::string &path, bool resume, uint64_t resumedStep);
  /// Opens the log to write behind what is there.
  dpc_status_t extendLog(const std::string &path);
  void begin(uint64_t firstStep, uint64_t lastStep, uint64_t batch);
  /// Shows progress.
  void show(const StepReport &report);
  /// Writes the log line. DPC_IO when the log cannot be written.
  dpc_status_t step(const StepReport &report);
  /// Writes a log line of an evaluation that belongs to no step of this run.
  /// `epoch` is null where the run has no training data. DPC_IO as above.
  dpc_status_t evaluation(uint64_t step, const double *epoch, const MetricValues &values);
  /// Puts the log on the disk. DPC_IO when that fails.
  dpc_status_t syncLog();
  /// Prints a line of its own, past the progress bar.
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
  size_t barCells = 24; ///< of the progress bar; 0: no room for one
  Pace pace;
};

/// "12.3 MiB"
std::string bytesText(uint64_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_REPORT_H
