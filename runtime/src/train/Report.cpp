// Writes rank 0's JSONL log, which has each step once even in a resumed run. Shows the
// progress as a bar on a terminal, otherwise as a line from time to time.

#include "runtime/src/train/Report.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr double kShowEverySeconds = 0.1;
constexpr double kPlainEverySeconds = 10;
constexpr size_t kLeastBarCells = 6;

void writeNumber(std::FILE *file, double value) {
  if (std::isfinite(value))
    std::fprintf(file, "%.17g", value);
  else
    std::fputs("null", file);
}

/// Quotes a string for JSON, because the name of an output may have any characters.
std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The number after `"step":` in a log line; 0 if the line has no step.
uint64_t stepOf(const std::string &line) {
  const size_t at = line.find("\"step\":");
  return at == std::string::npos ? 0 : std::strtoull(line.c_str() + at + 7, nullptr, 10);
}

/// Removes the log lines of all steps after `lastStep`, the step of the checkpoint from
/// which this run resumes. The run will write these steps again.
dpc_status_t keepUpTo(const std::string &path, uint64_t lastStep) {
  Mapping text;
  if (::access(path.c_str(), F_OK) != 0)
    return DPC_OK;
  if (dpc_status_t status = text.openFile(path.c_str()))
    return status;
  AtomicFile kept;
  if (dpc_status_t status = kept.create(path))
    return status;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    const char *newline =
        static_cast<const char *>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (!newline)
      break; // the last line is incomplete, because the earlier run crashed
    const std::string line(at, newline + 1);
    if (stepOf(line) <= lastStep)
      if (dpc_status_t status = kept.write(line.data(), line.size()))
        return status;
    at = newline + 1;
  }
  return kept.commit();
}

/// Formats a duration as "1:02:03", or as "2:03" if it is shorter than an hour.
std::string durationText(double seconds) {
  const auto whole = static_cast<unsigned long long>(seconds);
  char text[40];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%llu:%02llu:%02llu", whole / 3600, whole / 60 % 60,
                  whole % 60);
  else
    std::snprintf(text, sizeof text, "%llu:%02llu", whole / 60, whole % 60);
  return text;
}

/// Number of columns of the terminal on standard output; 80 if it is not known.
size_t terminalColumns() {
  winsize size = {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

} // namespace

Report::~Report() {
  if (log)
    std::fclose(log);
}

dpc_status_t Report::openLog(const std::string &path, bool resume, uint64_t resumedStep) {
  if (resume)
    if (dpc_status_t status = keepUpTo(path, resumedStep))
      return status;
  return open(path, resume ? "ae" : "we");
}

dpc_status_t Report::extendLog(const std::string &path) { return open(path, "ae"); }

dpc_status_t Report::open(const std::string &path, const char *mode) {
  logPath = path;
  log = std::fopen(path.c_str(), mode);
  return log ? DPC_OK
             : fail(DPC_IO, "%s: cannot be written: %s", path.c_str(), std::strerror(errno));
}

void Report::begin(uint64_t first, uint64_t last, uint64_t batchSize) {
  firstStep = first, lastStep = last, batch = batchSize;
  lastStepAt = monotonicSeconds();
  lastShown = lastStepAt - kPlainEverySeconds; // so that the first step is shown
  terminal = ::isatty(STDOUT_FILENO);
}

void Report::beginLine(uint64_t step) {
  std::fprintf(log, "{\"step\": %llu", static_cast<unsigned long long>(step));
}

void Report::addValues(const char *prefix, const MetricValues &values) {
  for (const auto &[name, value] : values) {
    std::fprintf(log, ", %s: ", quoted(std::string(prefix) + name).c_str());
    writeNumber(log, value);
  }
}

dpc_status_t Report::endLine() {
  std::fputs("}\n", log);
  return std::fflush(log) == 0
             ? DPC_OK
             : fail(DPC_IO, "%s: cannot be written: %s", logPath.c_str(), std::strerror(errno));
}

dpc_status_t Report::evaluation(uint64_t step, const double *epoch, const MetricValues &values) {
  if (!log)
    return DPC_OK;
  beginLine(step);
  if (epoch)
    addValues("", {{"epoch", *epoch}});
  addValues("", {{"time", wallSeconds()}});
  addValues("eval_", values);
  return endLine();
}

dpc_status_t Report::step(const StepReport &report) {
  if (!log)
    return DPC_OK;
  beginLine(report.step);
  addValues("", *report.metrics);
  addValues("", {{"seconds", report.seconds},
                 {"samples_per_second", report.samplesPerSecond},
                 {"learning_rate", report.learningRate},
                 {"epoch", report.epoch},
                 {"time", wallSeconds()}});
  if (report.evaluation)
    addValues("eval_", *report.evaluation);
  return endLine();
}

void Report::show(const StepReport &report) {
  const double now = monotonicSeconds();
  pace.add(report.seconds, std::max(0.0, now - lastStepAt - report.seconds));
  lastStepAt = now;
  if (report.step == lastStep ||
      now - lastShown >= (terminal ? kShowEverySeconds : kPlainEverySeconds)) {
    lastShown = now;
    draw(report);
  }
}

dpc_status_t Report::syncLog() {
  // A pipe or a device does not support fsync.
  if (!log || ::fsync(::fileno(log)) == 0 || errno == EINVAL || errno == EROFS)
    return DPC_OK;
  return fail(DPC_IO, "%s: cannot be written: %s", logPath.c_str(), std::strerror(errno));
}

void Report::draw(const StepReport &report) {
  std::string text = "step " + std::to_string(report.step) + "/" + std::to_string(lastStep);
  char number[64];
  for (const auto &[name, value] : *report.metrics) {
    std::snprintf(number, sizeof number, " %.5g", value);
    text += std::string("  ") + name + number;
  }
  std::snprintf(number, sizeof number, "  lr %.4g", report.learningRate);
  text += number;
  const double speed = double(batch) * pace.stepsPerSecond();
  std::snprintf(number, sizeof number, "  %.*f samples/s",
                speed < 10    ? 2
                : speed < 100 ? 1
                              : 0,
                speed);
  text += number + ("  " + durationText(pace.secondsFor(lastStep - report.step))) + " left";
  if (!terminal) {
    std::printf("%s\n", text.c_str());
  } else {
    // The line must fit the terminal, because a line that wraps could not be overwritten.
    // So a longer text makes the bar shorter. The bar does not become longer again, so
    // that it does not jump to and fro.
    const size_t columns = terminalColumns() - 1, frame = 3;
    const size_t room = columns - std::min(columns, text.size() + frame);
    barCells = room < kLeastBarCells ? 0 : std::min(barCells, room);
    text.resize(std::min(text.size(), columns));
    std::string bar;
    if (barCells) {
      const double part =
          double(report.step - firstStep) / double(std::max<uint64_t>(1, lastStep - firstStep));
      const size_t full = size_t(part * double(barCells));
      bar = "[" + std::string(full, '#') + std::string(barCells - full, '.') + "] ";
    }
    std::printf("\r\033[K%s%s", bar.c_str(), text.c_str());
    barShown = true;
  }
  std::fflush(stdout);
}

void Report::line(const std::string &text) {
  end();
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Report::end() {
  if (barShown)
    std::printf("\n");
  barShown = false;
}

dpc_status_t Report::closeLog() {
  if (!log)
    return DPC_OK;
  const bool ok = std::fclose(log) == 0;
  log = nullptr;
  return ok ? DPC_OK
            : fail(DPC_IO, "%s: cannot be written: %s", logPath.c_str(), std::strerror(errno));
}

} // namespace dpc
