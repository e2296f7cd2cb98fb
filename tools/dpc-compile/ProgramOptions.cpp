// Explains options that belong to compiled programs and to dpc-run, if a user gives them to
// dpc-compile.
#include "tools/dpc-compile/ProgramOptions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

/// Options that dpc-compile does not have, but that compiled programs
/// (runtime/src/train/Options.cpp) or dpc-run (runtime/src/launch/LaunchOptions.cpp) have. A
/// test in test/jobs compares this list with the --help of both.
static constexpr StringLiteral kOfPrograms[] = {"--best",
                                                "--check",
                                                "--check-gradients",
                                                "--check-state",
                                                "--checkpoint",
                                                "--checkpoint-every",
                                                "--comm",
                                                "--cuda-graph",
                                                "--data",
                                                "--describe",
                                                "--epochs",
                                                "--eval-data",
                                                "--eval-every",
                                                "--evaluate",
                                                "--init-params",
                                                "--input",
                                                "--listen",
                                                "--log",
                                                "--lr",
                                                "--max-restarts",
                                                "--nan",
                                                "--no-shuffle",
                                                "--node-rank",
                                                "--nodes",
                                                "--output",
                                                "--patience",
                                                "--postmortem",
                                                "--print-ranks",
                                                "--read-postmortem",
                                                "--rendezvous",
                                                "--resume",
                                                "--run-ahead",
                                                "--save-onnx",
                                                "--save-params",
                                                "--seed",
                                                "--steps",
                                                "--timeout",
                                                "--token-file",
                                                "--trace",
                                                "--verify"};

/// Options of programs that users may confuse with an option of dpc-compile, and the text
/// that names this other option.
static constexpr struct {
  StringLiteral name, here;
} kNamesakes[] = {{"--lr", "--optimizer=NAME,lr=X is the rate that is compiled in"},
                  {"--output", "-o OUT is where the program goes"}};

std::string dpc::explainProgramOption(StringRef argument) {
  const StringRef name = argument.split('=').first;
  if (!is_contained(kOfPrograms, name))
    return {};
  std::string text = ("the program takes it as it runs: dpc-run ./PROGRAM " + argument).str();
  for (const auto &[other, here] : kNamesakes)
    if (name == other)
      text += ("; " + here).str();
  return text;
}
