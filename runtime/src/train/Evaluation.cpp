// Evaluates the current parameters: computes the metrics batch by batch, and combines
// them to means (or sums) over the samples of the evaluation data.

#include "runtime/src/train/Evaluation.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace dpc {

dpc_status_t Evaluation::open(const std::vector<std::string> &specs, MemoryMaker &memory,
                              Report &report) {
  const dpc_program_t &program = session.program;
  if (dpc_status_t status = data.open(program, session.options.rank, specs, memory))
    return failWithin(status, "--eval-data");
  // If the graph computes a metric from a complete batch, no rows of the batch can be
  // left out.
  std::vector<std::string> needWhole;
  if (!session.masksRows())
    needWhole.emplace_back("the loss in the graph");
  for (uint32_t i = 0; i < program.metric_count && session.masksRows(); ++i)
    if (program.metrics[i].kind == DPC_METRIC_WHOLE)
      needWhole.emplace_back(program.metrics[i].name);
  const std::string whole = listNames(needWhole);
  const uint64_t left = data.rows() % program.batch;
  if (!left || whole.empty())
    return DPC_OK;
  if (data.rows() < program.batch)
    return fail(DPC_INVALID, "--eval-data: %s: %s, but %s needs a whole batch of %" PRIu64,
                data.source().c_str(), countOf(data.rows(), "sample").c_str(), whole.c_str(),
                program.batch);
  if (session.options.rank == 0)
    report.line("note: " + whole + " needs whole batches: the last " +
                (left == 1 ? "sample of --eval-data is"
                           : std::to_string(left) + " samples of --eval-data are") +
                " left out" + (session.masksRows() ? " of it" : ""));
  return DPC_OK;
}

dpc_status_t Evaluation::checkValues() const {
  const dpc_status_t status = data.checkValues();
  return status ? failWithin(status, "--eval-data") : DPC_OK;
}

/// Number of batches. A last, incomplete batch counts only if the program can mask the
/// rows that are missing.
uint64_t Evaluation::batchCount() const {
  const uint64_t batch = session.program.batch;
  return (data.rows() + (session.masksRows() ? batch - 1 : 0)) / batch;
}

/// The weight of a batch in a mean is its number of valid rows, or the value of the
/// metric's `weight`. For DPC_METRIC_WHOLE, all complete batches have the same weight.
/// In a program that scales the loss, products may overflow. There, a batch whose loss
/// is not finite is left out.
dpc_status_t Evaluation::run(bool mayStop) {
  const dpc_program_t &program = session.program;
  std::vector<double> sums(program.metric_count), weights(program.metric_count);
  data.activate(session.loader);
  leftOut = 0;
  for (uint64_t b = 0, count = batchCount(); b < count; ++b) {
    const uint64_t valid = std::min(program.batch, data.rows() - b * program.batch);
    data.select(session.loader, b, false, 0);
    const dpc_status_t status = session.runEntry(DPC_ENTRY_EVAL, valid);
    if (status != DPC_OK && status != DPC_NUMERIC)
      return status;
    if (mayStop && session.stopAgreed)
      return fail(DPC_INTERRUPTED, "interrupted after %" PRIu64 " of %" PRIu64 " batches", b + 1,
                  count);
    if (session.scalesLoss() && session.lossIsNotFinite()) {
      ++leftOut;
      continue;
    }
    for (uint32_t i = 0; i < program.metric_count; ++i) {
      const dpc_metric_t &metric = program.metrics[i];
      const double weight = metric.kind == DPC_METRIC_SUM     ? 1
                            : metric.kind == DPC_METRIC_WHOLE ? double(valid == program.batch)
                            : metric.weight == DPC_NONE       ? double(valid)
                                                              : session.metricValues[metric.weight];
      const double value = metric.kind == DPC_METRIC_GEOMETRIC ? std::log(session.metricValues[i])
                                                               : session.metricValues[i];
      sums[i] += weight == 0 ? 0 : value * weight; // a batch without valid labels has no mean
      weights[i] += weight;
    }
  }
  values.clear();
  for (uint32_t i = 0; i < program.metric_count; ++i) {
    const dpc_metric_t &metric = program.metrics[i];
    if (!(metric.entry >> DPC_ENTRY_EVAL & 1))
      continue;
    const double mean = sums[i] / weights[i];
    values.emplace_back(metric.name, metric.kind == DPC_METRIC_SUM         ? sums[i]
                                     : metric.kind == DPC_METRIC_GEOMETRIC ? std::exp(mean)
                                                                           : mean);
  }
  return DPC_OK;
}

std::string Evaluation::text() const {
  std::string text = "eval at step " + std::to_string(session.control.step) + ":";
  for (const auto &[name, value] : values) {
    char number[64];
    std::snprintf(number, sizeof number, " %.6g", value);
    text += std::string(" ") + name + number;
  }
  return text;
}

std::string Evaluation::note() const {
  return leftOut ? "note: " + std::to_string(leftOut) + " of " + std::to_string(batchCount()) +
                       " batches " + (leftOut == 1 ? "is left out: its" : "are left out: their") +
                       " loss is not finite"
                 : "";
}

} // namespace dpc
