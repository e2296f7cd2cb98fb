// Parses the command line of a compiled program. Refuses options that exclude each
// other, and options that need another option which is missing.

#include "runtime/src/train/Options.h"

#include "dpc/comm.h"
#include "runtime/src/base/CommChoice.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/UnknownOption.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace dpc {

namespace {

dpc_status_t parseCount(const char *option, const std::string &value, uint64_t *out) {
  return parseWhole(value.c_str(), 0, 1ull << 62, out)
             ? DPC_OK
             : fail(DPC_USAGE, "%s: \"%s\" is not a whole number", option, value.c_str());
}

dpc_status_t parsePositive(const char *option, const std::string &value, double *out) {
  char *end = nullptr;
  *out = std::strtod(value.c_str(), &end);
  if (value.empty() || *end || !std::isfinite(*out) || *out <= 0)
    return fail(DPC_USAGE, "%s: \"%s\" is not a positive number", option, value.c_str());
  return DPC_OK;
}

dpc_status_t parseNamedFile(const char *option, const std::string &value,
                            std::vector<std::pair<std::string, std::string>> *out) {
  const size_t equals = value.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == value.size())
    return fail(DPC_USAGE, "%s: \"%s\" is not NAME=FILE.npy", option, value.c_str());
  out->emplace_back(value.substr(0, equals), value.substr(equals + 1));
  return DPC_OK;
}

struct Parser {
  Options *out;

  bool flag(const std::string &name) {
    bool *target = name == "--no-shuffle"        ? &out->shuffle
                   : name == kResumeOption       ? &out->resume
                   : name == kHelpOption         ? &out->help
                   : name == kVersionOption      ? &out->version
                   : name == kPrintRanksOption   ? &out->printRanks
                   : name == kVerifyOption       ? &out->verify
                   : name == "--evaluate"        ? &out->evaluate
                   : name == "--check-gradients" ? &out->checkGradients
                                                 : nullptr;
    if (target)
      *target = name != "--no-shuffle";
    return target != nullptr;
  }

  std::string *text(const std::string &name) {
    return name == "--log"             ? &out->log
           : name == "--best"          ? &out->best
           : name == kCheckpointOption ? &out->checkpoint
           : name == "--save-onnx"     ? &out->saveOnnx
           : name == "--trace"         ? &out->trace
           : name == "--postmortem"    ? &out->postmortem
           : name == "--tune"          ? &out->tune
           : name == "--profile"       ? &out->profile
                                       : nullptr;
  }

  uint64_t *count(const std::string &name) {
    return name == "--steps"              ? &out->steps
           : name == "--epochs"           ? &out->epochs
           : name == "--seed"             ? &out->seed
           : name == "--eval-every"       ? &out->evalEvery
           : name == "--checkpoint-every" ? &out->checkpointEvery
           : name == "--patience"         ? &out->patience
           : name == "--check-state"      ? &out->checkState
                                          : nullptr;
  }

  dpc_status_t valued(const std::string &name, const std::string &value) {
    if (std::string *target = text(name)) {
      *target = value;
      return value.empty() ? fail(DPC_USAGE, "%s needs a value", name.c_str()) : DPC_OK;
    }
    if (uint64_t *target = count(name)) {
      if (dpc_status_t status = parseCount(name.c_str(), value, target))
        return status;
      return *target || name == "--seed" ? DPC_OK
                                         : fail(DPC_USAGE, "%s must be at least 1", name.c_str());
    }
    if (name == kResumeOption) {
      out->resume = true;
      out->resumeFrom = value;
      return value.empty() ? fail(DPC_USAGE, "%s= names no folder", name.c_str()) : DPC_OK;
    }
    if (name == "--data" || name == "--eval-data") {
      (name == "--data" ? out->data : out->evalData).push_back(value);
      return value.empty() ? fail(DPC_USAGE, "%s needs a value", name.c_str()) : DPC_OK;
    }
    if (name == "--init-params") {
      out->initParams.emplace_back();
      return parseParameterSpec("--init-params", value, &out->initParams.back());
    }
    if (name == "--save-params") {
      out->saveParams = {};
      return parseParameterSpec("--save-params", value, &out->saveParams);
    }
    if (name == "--lr")
      return parsePositive("--lr", value, &out->learningRate);
    if (name == "--timeout")
      return parsePositive("--timeout", value, &out->timeout);
    if (name == kFrozenOption)
      return parseFrozen(value.c_str(), &out->frozen);
    if (name == "--comm")
      return parseCommChoice(value, &out->transport, &out->bandwidth, &out->latency);
    if (name == "--input" || name == "--output")
      return parseNamedFile(name.c_str(), value, name == "--input" ? &out->inputs : &out->outputs);
    if (name == "--cuda-graph" || name == "--run-ahead") {
      (name == "--cuda-graph" ? out->cudaGraph : out->runAhead) = value;
      return value == "on" || value == "off"
                 ? DPC_OK
                 : fail(DPC_USAGE, "%s: \"%s\" is neither on nor off", name.c_str(), value.c_str());
    }
    if (name == "--nan") {
      if (value != "stop" && value != "warn")
        return fail(DPC_USAGE, "--nan: \"%s\" is neither stop nor warn", value.c_str());
      out->warnOnNan = value == "warn";
      return DPC_OK;
    }
    return refuseUnknown(name);
  }
};

/// Whether an option may be given several times with different values.
bool isRepeatable(const std::string &name) {
  static const char *const names[] = {"--data", "--eval-data", "--init-params", "--input",
                                      "--output"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char *each) { return name == each; });
}

bool takesValue(Parser &parser, const std::string &name) {
  static const char *const others[] = {"--data",     "--eval-data",  "--timeout",   "--comm",
                                       "--input",    "--output",     "--nan",       "--init-params",
                                       "--lr",       "--cuda-graph", "--run-ahead", "--save-params",
                                       kFrozenOption};
  for (const char *other : others)
    if (name == other)
      return true;
  return parser.text(name) || parser.count(name);
}

/// Refuses options that cannot be used with --evaluate, because they are for runs that
/// train or save.
dpc_status_t checkEvaluate(const Options &options, const std::vector<std::string> &given) {
  for (const char *unfit :
       {"--data", "--no-shuffle", "--steps", "--epochs", "--lr", "--nan", "--eval-every",
        "--checkpoint-every", "--check-state", "--check-gradients", "--save-params", "--save-onnx",
        "--best", "--patience"})
    for (const std::string &name : given)
      if (name == unfit)
        return fail(DPC_USAGE, "--evaluate excludes %s: it %s", unfit,
                    name == "--data" ? "takes its data by --eval-data"
                                     : "neither trains nor saves");
  if (options.evalData.empty())
    return fail(DPC_USAGE, "--evaluate needs --eval-data");
  if (!options.checkpoint.empty() && !options.resume)
    return fail(DPC_USAGE, "--evaluate with --checkpoint needs --resume, which reads the newest");
  return DPC_OK;
}

} // namespace

dpc_status_t parseOptions(int argc, char **argv, Options *out) {
  Parser parser{out};
  GivenOptions given;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--", 0) != 0)
      return fail(DPC_USAGE,
                  "unexpected argument \"%s\" (options begin with --; --help "
                  "lists all)",
                  argument.c_str());
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    names.push_back(name);
    if (!isRepeatable(name))
      if (dpc_status_t status = given.add(name, argument))
        return status;
    if (name == kCheckOption) {
      if (dpc_status_t status = parseCheck(argument, &out->check))
        return status;
      continue;
    }
    if (equals == std::string::npos && parser.flag(name))
      continue;
    if (equals == std::string::npos && takesValue(parser, name))
      return fail(DPC_USAGE, "%s needs a value: %s=...", name.c_str(), name.c_str());
    if (dpc_status_t status =
            parser.valued(name, equals == std::string::npos ? "" : argument.substr(equals + 1)))
      return status;
  }
  if (out->evaluate)
    if (dpc_status_t status = checkEvaluate(*out, names))
      return status;
  // A wait must not end before the rank that it waits for counts as frozen (Timeouts.h).
  if (const double timeout = out->timeout > 0 ? out->timeout : kTimeoutSeconds;
      out->frozen > timeout / 2)
    return fail(DPC_USAGE, "--frozen=%.0f is more than half of --timeout=%g%s", out->frozen,
                timeout, out->timeout > 0 ? "" : ", the default");
  if (out->steps && out->epochs)
    return fail(DPC_USAGE, "--steps and --epochs exclude each other");
  if (out->checkpoint.empty() && (out->resume || out->checkpointEvery))
    return fail(DPC_USAGE, "%s needs --checkpoint=DIR",
                out->resume ? "--resume" : "--checkpoint-every");
  if (out->evalEvery && out->evalData.empty())
    return fail(DPC_USAGE, "--eval-every needs --eval-data");
  if (!out->best.empty() && !out->evalEvery)
    return fail(DPC_USAGE, "--best needs --eval-every=N and --eval-data");
  if (out->patience && out->best.empty())
    return fail(DPC_USAGE, "--patience needs --best=METRIC, which says what is better");
  if (!out->best.empty() && !out->patience && out->checkpoint.empty() &&
      out->saveParams.path.empty() && out->saveOnnx.empty())
    return fail(DPC_USAGE, "--best needs somewhere to keep what is best: "
                           "--save-params, --save-onnx or --checkpoint (or --patience=N)");
  return DPC_OK;
}

} // namespace dpc
