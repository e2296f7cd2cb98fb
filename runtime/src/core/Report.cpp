#include "runtime/src/core/Report.h"

#include "runtime/src/comm/Sockets.h"
#include "runtime/src/core/Status.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/data/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace dpc {

namespace {

constexpr double kShowEverySeconds = 0.1;
constexpr double kPlainEverySeconds = 10;

void writeNumber(std::FILE *file, double value) {
  if (std::isfinite(value))
    std::fprintf(file, "%.17g", value);
  else
    std::fputs("null", file);
}

/// Number after `"step": ` in a log line; 0 if there is none.
uint64_t stepOf(const std::string &line) {
  const size_t at = line.find("\"step\":");
  return at == std::string::npos
             ? 0
             : std::strtoull(line.c_str() + at + 7, nullptr, 10);
}

/// Drops what a run wrote past the checkpoint from which this one goes on: each
/// step is in the log once.
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
    const char *newline = static_cast<const char *>(
        std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (!newline)
      break; // torn by a crash
    const std::string line(at, newline + 1);
    if (stepOf(line) <= lastStep)
      if (dpc_status_t status = kept.write(line.data(), line.size()))
        return status;
    at = newline + 1;
  }
  return kept.commit();
}

} // namespace

std::string bytesText(uint64_t bytes) {
  char text[32];
  if (bytes < 1024)
    std::snprintf(text, sizeof text, "%llu bytes",
                  static_cast<unsigned long long>(bytes));
  else if (bytes < 1ull << 20)
    std::snprintf(text, sizeof text, "%.1f KiB", double(bytes) / 1024);
  else if (bytes < 1ull << 30)
    std::snprintf(text, sizeof text, "%.1f MiB", double(bytes) / (1 << 20));
  else
    std::snprintf(text, sizeof text, "%.2f GiB", double(bytes) / (1 << 30));
  return text;
}

Report::~Report() {
  if (log)
    std::fclose(log);
}

dpc_status_t Report::openLog(const std::string &path, bool resume,
                             uint64_t resumedStep) {
  logPath = path;
  if (resume)
    if (dpc_status_t status = keepUpTo(path, resumedStep))
      return status;
  log = std::fopen(path.c_str(), resume ? "ae" : "we");
  if (!log)
    return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(),
                std::strerror(errno));
  return DPC_OK;
}

void Report::begin(uint64_t first, uint64_t last) {
  firstStep = first, lastStep = last;
  started = monotonicSeconds();
  lastShown = started - kPlainEverySeconds; // the first step is shown at once
  terminal = ::isatty(STDOUT_FILENO);
}

dpc_status_t Report::step(const StepReport &report) {
  if (log) {
    std::fprintf(log, "{\"step\": %llu",
                 static_cast<unsigned long long>(report.step));
    for (const auto &[name, value] : *report.metrics) {
      std::fprintf(log, ", \"%s\": ", name);
      writeNumber(log, value);
    }
    std::fputs(", \"seconds\": ", log);
    writeNumber(log, report.seconds);
    std::fputs(", \"samples_per_second\": ", log);
    writeNumber(log, report.samplesPerSecond);
    for (size_t i = 0; report.evaluation && i < report.evaluation->size();
         ++i) {
      std::fprintf(log, ", \"eval_%s\": ", (*report.evaluation)[i].first);
      writeNumber(log, (*report.evaluation)[i].second);
    }
    std::fputs("}\n", log);
    if (std::fflush(log) != 0)
      return fail(DPC_IO, "%s: cannot be written: %s", logPath.c_str(),
                  std::strerror(errno));
  }
  const double now = monotonicSeconds();
  if (report.step == lastStep ||
      now - lastShown >= (terminal ? kShowEverySeconds : kPlainEverySeconds)) {
    lastShown = now;
    show(report);
  }
  return DPC_OK;
}

void Report::show(const StepReport &report) {
  constexpr uint64_t kBarCells = 24;
  const uint64_t total = std::max<uint64_t>(1, lastStep - firstStep),
                 done = report.step - firstStep;
  const double elapsed = monotonicSeconds() - started,
               left = done ? elapsed / double(done) * double(total - done) : 0;
  char text[256];
  int n = std::snprintf(text, sizeof text, "step %llu/%llu",
                        static_cast<unsigned long long>(report.step),
                        static_cast<unsigned long long>(lastStep));
  for (const auto &[name, value] : *report.metrics)
    if (n < 180)
      n += std::snprintf(text + n, sizeof text - size_t(n), "  %s %.5g", name,
                         value);
  std::snprintf(text + n, sizeof text - size_t(n),
                "  %.4g samples/s  %d:%02d left", report.samplesPerSecond,
                int(left) / 60, int(left) % 60);
  if (!terminal) {
    std::printf("%s\n", text);
  } else {
    char bar[kBarCells + 1];
    for (uint64_t i = 0; i < kBarCells; ++i)
      bar[i] = i < done * kBarCells / total ? '#' : '.';
    bar[kBarCells] = 0;
    std::printf("\r\033[K[%s] %s", bar, text);
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
            : fail(DPC_IO, "%s: cannot be written: %s", logPath.c_str(),
                   std::strerror(errno));
}

} // namespace dpc
