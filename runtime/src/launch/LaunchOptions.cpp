// Parses the options of dpc-run, which come before the path of the program, and has the
// text of --help.

#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/launch/Launch.h"

#include <cstring>

namespace dpc {

namespace {

dpc_status_t parseNumber(const char *option, const char *value, uint32_t lowest, uint32_t highest,
                         uint32_t *out) {
  uint64_t number = 0;
  if (!parseWhole(value, lowest, highest, &number))
    return fail(DPC_USAGE, "%s: \"%s\" is not a number from %u to %u", option, value, lowest,
                highest);
  *out = static_cast<uint32_t>(number);
  return DPC_OK;
}

} // namespace

dpc_status_t parseLaunchOptions(int argc, char **argv, LaunchOptions *out) {
  constexpr uint32_t kMaxRanks = 1024, kMaxRestarts = 1000000;
  GivenOptions given;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; ++i) {
    const std::string argument = argv[i];
    dpc_status_t status = DPC_OK;
    // "-n 2" and "-n2" are the same option.
    const bool isRanks = argument.rfind("-n", 0) == 0;
    const std::string whole = argument == "-n" && i + 1 < argc ? argument + argv[i + 1] : argument;
    if ((status = given.add(isRanks ? "-n" : argument.substr(0, argument.find('=')), whole)))
      return status;
    if (argument == kHelpOption || argument == "-h")
      out->help = true;
    else if (argument == kVersionOption)
      out->version = true;
    else if (argument == kVerifyOption)
      out->verify = true;
    else if (argument == "-n" && i + 1 < argc)
      status = parseNumber("-n", argv[++i], 1, kMaxRanks, &out->ranks);
    else if (argument.rfind("-n", 0) == 0 && argument.size() > 2)
      status = parseNumber("-n", argv[i] + 2, 1, kMaxRanks, &out->ranks);
    else if (argument.rfind("--max-restarts=", 0) == 0)
      status = parseNumber("--max-restarts", argv[i] + std::strlen("--max-restarts="), 0,
                           kMaxRestarts, &out->maxRestarts);
    else if (argument.rfind("--nodes", 0) == 0 || argument.rfind("--node-rank", 0) == 0 ||
             argument.rfind("--rendezvous", 0) == 0)
      return fail(DPC_USAGE, "%s: runs over several hosts are not available yet", argument.c_str());
    else
      return fail(DPC_USAGE, "unknown option %s, or its value is missing (--help lists all)",
                  argument.c_str());
    if (status)
      return status;
  }
  out->command.assign(argv + i, argv + argc);
  if (out->command.empty() && !out->help && !out->version)
    return fail(DPC_USAGE, "no program to run (dpc-run [-n N] ./PROGRAM ...)");
  if (out->verify && (out->ranks || out->maxRestarts || out->command.size() > 1))
    return fail(DPC_USAGE, "%s runs nothing: it takes a program and no other options (not %s)",
                kVerifyOption,
                out->ranks         ? "-n"
                : out->maxRestarts ? "--max-restarts"
                                   : out->command[1].c_str());
  return DPC_OK;
}

const char *launchHelp() {
  return R"(usage: dpc-run [-n N] [--max-restarts=K] ./PROGRAM [its options]
       dpc-run --verify ./PROGRAM

Starts the ranks of a program made by dpc-compile on this machine and waits for them.

  -n N                 number of ranks (default: the program's)
  --max-restarts=K     start anew up to K times when a rank dies; with --checkpoint the run goes on from the newest one
  --verify             run nothing: prove the program's plan by playing the tables of all ranks against each other
  --help, --version

Each rank gets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT and, by an open file, the run's secret token.
One line tells why a run ended, whatever died first. The exit code is the cause of a failure, not its symptom: 1 input or request wrong, 2 usage, 3 a rank died or did not
answer, 4 loss not finite, 5 input/output, 130 interrupted.
)";
}

} // namespace dpc
