// dpc-interp: runs a module of the nn and dist dialects in the reference
// interpreter. It calls @step (or @infer, or @forward) on batches of a data
// file.

#include "dialects/Dist/IR/DistDialect.h"
#include "interpreter/Session.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/OptionTable.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace llvm::opt;

static int fail(const llvm::Twine &message, int code = exitInvalid) {
  llvm::errs() << "dpc-interp: error: " << message << "\n";
  return code;
}

/// Writes a log line {"step": 1, "loss": 0.5, ...}. A number that JSON cannot
/// represent becomes null.
static void logStep(llvm::raw_ostream &os, int64_t step, double seconds, int64_t batch,
                    const TensorMap &metrics) {
  os << "{\"step\": " << step;
  for (const auto &[name, value] : metrics) {
    if (!value.isFloat() || value.size() != 1)
      continue;
    os << ", \"" << name << "\": ";
    if (std::isfinite(value.floats[0]))
      os << llvm::format("%.17g", value.floats[0]);
    else
      os << "null";
  }
  os << ", \"seconds\": " << llvm::format("%.6g", seconds)
     << ", \"samples_per_second\": " << llvm::format("%.6g", batch / std::max(seconds, 1e-9))
     << "}\n";
  os.flush();
}

/// The name of the function to run: @step, or @infer or @forward if the program
/// has no loss.
static StringRef findEntry(Session &session) {
  for (StringRef name : {"step", "infer", "forward"})
    if (session.hasFunction(name))
      return name;
  return "step";
}

/// Runs `steps` steps on `data`, logs each, and returns the results of the last
/// one.
static FailureOr<TensorMap> runSteps(Session &session, StringRef entry, const DataSet &data,
                                     int64_t steps, int64_t seed, llvm::raw_ostream &log) {
  int64_t batch = session.getBatchSize(entry);
  TensorMap results;
  for (int64_t done = 0; done < steps; ++done) {
    auto begin = std::chrono::steady_clock::now();
    FailureOr<TensorMap> metrics =
        session.run(entry, data, done * batch,
                    {{"seed", double(seed)},
                     {"step", double(done)},
                     {"learning_rate", session.getLearningRate(done, steps)}});
    if (failed(metrics))
      return failure();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    logStep(log, done + 1, seconds.count(), batch, *metrics);
    results = std::move(*metrics);
  }
  return results;
}

/// Does the work that the command line requests after the last step: writes
/// results from `results`, evaluates, and saves the state. Returns the exit
/// code.
static int finish(const llvm::opt::InputArgList &args, Session &session, StringRef entry,
                  const DataSet &data, int64_t steps, const TensorMap &results) {
  std::string error;
  for (StringRef text : args.getAllArgValues(OPT_output)) {
    auto [name, path] = text.split('=');
    auto found = results.find(name);
    if (found == results.end())
      return fail("--output=" + text + ": @" + entry + " has no result '" + name + "'");
    if (!writeNpy(path, found->second, error))
      return fail(error, exitIO);
  }
  if (args.hasArg(OPT_eval)) {
    int64_t batch = session.getBatchSize(entry);
    FailureOr<TensorMap> metrics = session.run("eval", data, 0, {{"valid_rows", double(batch)}});
    if (failed(metrics))
      return exitInvalid;
    logStep(llvm::outs(), steps, 1, batch, *metrics);
  }
  if (const llvm::opt::Arg *path = args.getLastArg(OPT_save_params))
    if (!writeSafetensors(path->getValue(), session.state, error))
      return fail(error, exitIO);
  return exitDone;
}

int main(int argc, char **argv) {
  FatalErrors::install("dpc-interp");
  OptionTable table;
  llvm::opt::InputArgList args = parseCommandLine(
      table, argc, argv, OPT_help, OPT_version, OPT_UNKNOWN, "dpc-interp",
      "dpc-interp FILE.mlir [options]", "dpc-interp: reference interpreter of tensor programs");
  std::vector<std::string> files = args.getAllArgValues(OPT_INPUT);
  if (files.size() != 1)
    return fail("one FILE.mlir is needed, not " + llvm::Twine(files.size()), exitUsage);
  int64_t steps = integerOption(args, OPT_steps, "dpc-interp", 1, 0);
  int64_t seed = integerOption(args, OPT_seed, "dpc-interp", 0, 0);
  int64_t ranks = integerOption(args, OPT_ranks, "dpc-interp", 0, 1);

  MLIRContext context;
  context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(files[0], sources, &context);
  if (!module)
    return exitInvalid;
  FailureOr<Session> session = Session::create(*module);
  if (failed(session))
    return exitInvalid;

  if (ranks && ranks != session->getRankCount())
    return fail("--ranks=" + llvm::Twine(ranks) + ", but the mesh has " +
                llvm::Twine(session->getRankCount()) + " devices");

  std::string error;
  DataSet data;
  if (const llvm::opt::Arg *path = args.getLastArg(OPT_data)) {
    std::optional<DataSet> read = readNpz(path->getValue(), &context, error);
    if (!read)
      return fail(error);
    data = std::move(*read);
  }
  std::unique_ptr<llvm::raw_fd_ostream> log;
  if (const llvm::opt::Arg *path = args.getLastArg(OPT_log)) {
    std::error_code code;
    log = std::make_unique<llvm::raw_fd_ostream>(path->getValue(), code);
    if (code)
      return fail(llvm::Twine(path->getValue()) + ": " + code.message(), exitIO);
  }

  StringRef entry = findEntry(*session);
  FailureOr<TensorMap> results =
      runSteps(*session, entry, data, steps, seed, log ? *log : llvm::outs());
  if (failed(results))
    return exitInvalid;
  if (log && log->has_error()) {
    const std::string cause = log->error().message();
    log->clear_error();
    return fail(args.getLastArgValue(OPT_log) + ": cannot be written: " + cause, exitIO);
  }
  return finish(args, *session, entry, data, steps, *results);
}
