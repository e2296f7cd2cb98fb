// Implements --best: after each evaluation that is the best so far, saves the model.
// With --checkpoint, also writes the value to `best.json`, which a resumed run reads.

#include "runtime/src/train/BestKeeper.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/pieces/StepFolder.h"
#include "runtime/src/train/OutputFiles.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {
constexpr const char *kOutput = "output:";

bool isOutput(const std::string &metric) { return metric.rfind(kOutput, 0) == 0; }

/// Converts between the name of a metric in the option (top-5) and its name in the log
/// (top_5). Names of outputs stay as they are.
std::string exchanged(std::string name, char from, char to) {
  if (!isOutput(name))
    std::replace(name.begin(), name.end(), from, to);
  return name;
}

std::string numberText(double value) {
  char number[64];
  std::snprintf(number, sizeof number, "%.6g", value);
  return number;
}
} // namespace

/// Parses METRIC, or output:NAME[,min|,max].
dpc_status_t BestKeeper::parse() {
  const size_t comma = options.best.rfind(',');
  const std::string direction = comma == std::string::npos ? "" : options.best.substr(comma);
  const bool hasDirection = direction == ",min" || direction == ",max";
  metric = exchanged(hasDirection ? options.best.substr(0, comma) : options.best, '-', '_');
  if (hasDirection && !isOutput(metric))
    return fail(DPC_USAGE, "--best=%s: only output:NAME takes %s", options.best.c_str(),
                direction.c_str());
  isMaximum = direction == ",max";
  return DPC_OK;
}

dpc_status_t BestKeeper::open() {
  if (!isActive())
    return DPC_OK;
  if (dpc_status_t status = parse())
    return status;
  std::vector<std::string> known;
  bool isKnown = false;
  for (uint32_t i = 0; i < session.program.metric_count; ++i) {
    const dpc_metric_t &each = session.program.metrics[i];
    if (!(each.entry >> DPC_ENTRY_EVAL & 1) || each.kind == DPC_METRIC_SUM ||
        each.kind == DPC_METRIC_SCALE)
      continue;
    known.push_back(exchanged(each.name, '_', '-'));
    if (metric != each.name)
      continue;
    isKnown = true;
    isLowest = isOutput(metric) ? !isMaximum
                                : each.kind == DPC_METRIC_LOSS || each.kind == DPC_METRIC_GEOMETRIC;
  }
  if (!isKnown)
    return fail(DPC_INVALID,
                "--best=%s: evaluation has no such metric, but: %s (others are in programs of "
                "dpc-compile --metric)",
                options.best.c_str(), listNames(known).c_str());
  if (options.checkpoint.empty())
    return DPC_OK;
  if (options.resume)
    return readRecord();
  if (!listCheckpoints(folder()).empty())
    return fail(DPC_INVALID,
                "%s already holds checkpoints: add --resume, or name another "
                "directory",
                folder().c_str());
  return DPC_OK;
}

/// Reads best.json, the record of the run's best checkpoint, if the file exists.
dpc_status_t BestKeeper::readRecord() {
  const std::string path = folder() + "/best.json";
  if (::access(path.c_str(), F_OK) != 0)
    return DPC_OK;
  Mapping text;
  if (dpc_status_t status = text.openFile(path.c_str()))
    return status;
  const nlohmann::json json =
      nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr, false);
  if (!json.is_object() || !json.contains("metric") || !json["metric"].is_string() ||
      !json.contains("value") || !json["value"].is_number() || !json.contains("step") ||
      !json["step"].is_number_unsigned())
    return fail(DPC_INVALID, "%s: does not say what was best: remove it", path.c_str());
  if (json["metric"].get<std::string>() != record())
    return fail(DPC_INVALID, "%s is of --best=%s, this run has --best=%s", path.c_str(),
                json["metric"].get<std::string>().c_str(), options.best.c_str());
  value = json["value"].get<double>();
  step = json["step"].get<uint64_t>();
  hasValue = true;
  countsOn = json.value("eval_every", nlohmann::json()) == options.evalEvery;
  return DPC_OK;
}

dpc_status_t BestKeeper::writeRecord() const {
  const nlohmann::ordered_json json = {
      {"metric", record()}, {"value", value}, {"step", step}, {"eval_every", options.evalEvery}};
  const std::string text = json.dump() + "\n";
  AtomicFile file;
  if (dpc_status_t status = file.create(folder() + "/best.json"))
    return status;
  if (dpc_status_t status = file.write(text.data(), text.size()))
    return status;
  return file.commit();
}

dpc_status_t BestKeeper::save() {
  if (dpc_status_t status = writeModelFiles(session, options))
    return status;
  if (options.checkpoint.empty())
    return DPC_OK;
  const bool first = session.options.rank == 0;
  if (first && ::mkdir(options.checkpoint.c_str(), 0777) != 0 && errno != EEXIST)
    return session.failed(
        fail(DPC_IO, "%s: cannot be made: %s", options.checkpoint.c_str(), std::strerror(errno)));
  if (dpc_status_t status = saver.begin(folder()))
    return status;
  // The checkpoint must be on the disk before best.json refers to it.
  if (dpc_status_t status = saver.finish())
    return status;
  return session.agree(first ? writeRecord() : dpc_status_t(DPC_OK));
}

dpc_status_t BestKeeper::offer(const MetricValues &evaluation, bool *outIsBest) {
  *outIsBest = false;
  for (const auto &[name, now] : evaluation) {
    if (metric != name || !std::isfinite(now) ||
        (hasValue && (isLowest ? now >= value : now <= value)))
      continue;
    value = now;
    step = session.control.step;
    hasValue = saved = *outIsBest = true;
    return save();
  }
  return DPC_OK;
}

bool BestKeeper::hasFiles() const {
  return !options.checkpoint.empty() || !options.saveParams.path.empty() ||
         !options.saveOnnx.empty();
}

uint64_t BestKeeper::countSinceBest() const {
  uint64_t from = hasValue ? step : firstStep;
  if (!countsOn)
    from = std::max(from, firstStep);
  const uint64_t now = session.control.step;
  return now > from ? now / options.evalEvery - from / options.evalEvery : 0;
}

bool BestKeeper::isOutOfPatience() const {
  return options.patience && countSinceBest() >= options.patience;
}

std::string BestKeeper::patienceText() const {
  const uint64_t count = countSinceBest();
  return countOf(count, "evaluation") + " without a " +
         (hasValue ? "better " + metric + " than " + numberText(value) + " of step " +
                         std::to_string(step)
                   : "finite " + metric);
}

std::string BestKeeper::text() const {
  return hasValue ? metric + " " + numberText(value) + " of step " + std::to_string(step)
                  : "no finite " + metric;
}

std::string BestKeeper::result() const {
  if (!hasFiles())
    return "best: " + text();
  return saved ? "kept: " + text()
               : "note: nothing is written: no evaluation of this run was better than " + text();
}

} // namespace dpc
