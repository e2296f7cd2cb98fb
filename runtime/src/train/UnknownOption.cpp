// Refuses options that compiled programs do not have. Tells the user which option to use
// instead.

#include "runtime/src/train/UnknownOption.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace dpc {

namespace {

/// The options of dpc-compile (tools/dpc-compile/Options.td) that programs do not have. Programs
/// have another option --frozen.
/// Each one has a blank before and after it, so that a search finds only complete names.
constexpr char kOfCompiler[] =
    " --accumulate --as-exported --batch-axes --batch-dim --batch-norm --bucket-mib --cache "
    "--chunks --clip-grad-norm --cpu --cuda-arch --cut-memory --device-memory --emit --explain "
    "--fail-on-reshard --first-bucket-mib --grad-reduce --label-shape --label-type "
    "--log-grad-norm --loss --lr-schedule --mesh --metric --microbatches --optimizer --overlap "
    "--param-group --params --precision --products --ptxas --recompute --remat --report "
    "--save-kernels --schedule "
    "--schedule-memory --schedule-svg --shape --shard --slow --slow-link --stages --stop-after "
    "--sums --target --topology "
    "--trainable --verify-plan --zero --zero-keep ";

/// Options that users may know from other training programs, and the option of dpc that has
/// the same purpose.
constexpr struct {
  const char *name, *instead;
} kElsewhere[] = {
    {"--batch", "the batch is compiled in: dpc-compile --shape=NAME:DxDx.."},
    {"--batch-size", "the batch is compiled in: dpc-compile --shape=NAME:DxDx.."},
    {"--log-every", "the file of --log=FILE.jsonl has every step"},
    {"--log-interval", "the file of --log=FILE.jsonl has every step"},
    {"--learning-rate", "the option is --lr=X"},
    {"--eval", "the option is --evaluate, with --eval-data=.."},
    {"--describe", "it is an option of dpc-run, in place of a program"},
    {"--listen", "it is an option of dpc-run, before the program"},
    {"--max-restarts", "it is an option of dpc-run, before the program"},
    {"--read-postmortem", "it is an option of dpc-run, in place of a program"},
    {"--node-rank", "it is an option of dpc-run, before the program"},
    {"--nodes", "it is an option of dpc-run, before the program"},
    {"--rendezvous", "it is an option of dpc-run, before the program"},
    {"--token-file", "it is an option of dpc-run, before the program"},
};

/// All options of training and inference programs, which Options.cpp parses.
constexpr const char *kOwn[] = {"--best",        "--check",      "--check-gradients",
                                "--check-state", "--checkpoint", "--checkpoint-every",
                                "--comm",        "--cuda-graph", "--data",
                                "--epochs",      "--eval-data",  "--eval-every",
                                "--evaluate",    "--frozen",     "--help",
                                "--init-params", "--input",      "--log",
                                "--lr",          "--nan",        "--no-shuffle",
                                "--output",      "--patience",   "--postmortem",
                                "--print-ranks", "--profile",    "--resume",
                                "--run-ahead",   "--save-onnx",  "--save-params",
                                "--seed",        "--steps",      "--timeout",
                                "--trace",       "--tune",       "--verify",
                                "--version"};

} // namespace

dpc_status_t refuseUnknown(const std::string &name) {
  for (const auto &[other, instead] : kElsewhere)
    if (name == other)
      return fail(DPC_USAGE, "unknown option %s: %s", name.c_str(), instead);
  if (std::string(kOfCompiler).find(" " + name + " ") != std::string::npos)
    return fail(DPC_USAGE,
                "%s is an option of dpc-compile: the program has to be compiled with it "
                "(--version prints how this one was)",
                name.c_str());
  const std::vector<std::string> own(std::begin(kOwn), std::end(kOwn));
  if (std::find(own.begin(), own.end(), name) != own.end())
    return fail(DPC_USAGE, "%s takes no value", name.c_str());
  const std::string meant = nearestName(name, own);
  return meant.empty() ? fail(DPC_USAGE, "unknown option %s (--help lists all)", name.c_str())
                       : fail(DPC_USAGE, "unknown option %s; did you mean %s? (--help lists all)",
                              name.c_str(), meant.c_str());
}

} // namespace dpc
