// Parses the options of dpc-run, which come before the path of the program, and has the
// text of --help.

#include "runtime/src/base/CommChoice.h"
#include "runtime/src/base/HostFile.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/launch/Launch.h"

#include <cstring>

namespace dpc {

namespace {

constexpr char kReadPostmortemOption[] = "--read-postmortem";

dpc_status_t parseNumber(const char *option, const char *value, uint32_t lowest, uint32_t highest,
                         uint32_t *out) {
  uint64_t number = 0;
  if (!parseWhole(value, lowest, highest, &number))
    return fail(DPC_USAGE, "%s: \"%s\" is not a number from %u to %u", option, value, lowest,
                highest);
  *out = static_cast<uint32_t>(number);
  return DPC_OK;
}

/// Checks the options of runs over several hosts.
dpc_status_t checkNodes(const LaunchOptions &options, const GivenOptions &given) {
  for (const char *option : {"--node-rank", "--rendezvous", "--token-file", "--listen"}) {
    const bool isGiven = given.has(option);
    if (isGiven && !given.has("--nodes"))
      return fail(DPC_USAGE, "%s needs --nodes=N, the number of hosts", option);
    if (!isGiven && options.nodes > 1 && std::strcmp(option, "--listen") != 0)
      return fail(
          DPC_USAGE,
          "--nodes=%u needs %s (dpc-run --nodes=N --node-rank=I --rendezvous=tcp://HOST:PORT "
          "--token-file=FILE ./PROGRAM ..)",
          options.nodes, option);
  }
  if (options.nodeRank >= options.nodes)
    return fail(DPC_USAGE, "--node-rank=%u is not below --nodes=%u", options.nodeRank,
                options.nodes);
  if (options.nodes > 1 && options.rendezvous.rfind("tcp://", 0) != 0)
    return fail(DPC_USAGE, "--rendezvous: \"%s\" is not tcp://HOST:PORT",
                options.rendezvous.c_str());
  for (const std::string &argument : options.command)
    if (options.nodes > 1 && argument.compare(0, 12, "--comm=local") == 0)
      return fail(DPC_USAGE, "--nodes=%u and %s: ranks on several hosts share no memory",
                  options.nodes, argument.c_str());
  return DPC_OK;
}

/// Gives --check to the program if dpc-run has it, and takes it over if only the program has it.
dpc_status_t passCheck(LaunchOptions *out) {
  for (size_t i = 1; i < out->command.size(); ++i)
    if (out->command[i].substr(0, out->command[i].find('=')) == kCheckOption)
      return out->check ? dpc_status_t(DPC_OK) : parseCheck(out->command[i], &out->check);
  if (out->check && !out->command.empty())
    out->command.push_back(kCheckOption + ("=" + std::to_string(out->check)));
  return DPC_OK;
}

/// Checks the options of --describe, and gives it the number of ranks.
dpc_status_t checkDescribe(LaunchOptions *out, const GivenOptions &given) {
  if (!given.has("--describe")) {
    if (given.has("--comm"))
      return fail(DPC_USAGE, "--comm is an option of the program: dpc-run ./PROGRAM --comm=..");
    return DPC_OK;
  }
  if (out->describe.file.empty())
    return out->describe.isDefault
               ? fail(DPC_USAGE, "--describe: neither XDG_CACHE_HOME nor HOME names a folder for "
                                 "the file: --describe=FILE names it")
               : fail(DPC_USAGE, "--describe= needs the file to write");
  if (!out->command.empty() || out->verify || out->check || out->maxRestarts || out->readPostmortem)
    return fail(DPC_USAGE, "--describe measures hosts and runs nothing: it takes -n, --comm and "
                           "the options of several hosts, and no program");
  if (out->nodes > 1 && out->describe.transport == "local")
    return fail(DPC_USAGE, "--nodes=%u and --comm=local: ranks on several hosts share no memory",
                out->nodes);
  if (out->describe.transport == kNcclTransport)
    return fail(DPC_USAGE, "--describe measures cores of this host: --comm=%s is for devices",
                kNcclTransport);
  out->describe.ranks = out->ranks;
  return DPC_OK;
}

/// Reads --frozen of the program's options, because the launcher must not wait longer than the
/// ranks.
dpc_status_t readFrozen(LaunchOptions *out) {
  const std::string option = std::string(kFrozenOption) + "=";
  for (size_t i = 1; i < out->command.size(); ++i)
    if (out->command[i].rfind(option, 0) == 0)
      if (dpc_status_t status = parseFrozen(out->command[i].c_str() + option.size(), &out->frozen))
        return status;
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
    const auto valueOf = [&](const char *name) {
      const size_t length = std::strlen(name);
      return argument.compare(0, length, name) == 0 ? argument.c_str() + length : nullptr;
    };
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
    else if (argument.substr(0, argument.find('=')) == kCheckOption)
      status = parseCheck(argument, &out->check);
    else if (argument == "--describe") {
      out->describe.file = hostFile();
      out->describe.isDefault = true;
    } else if (const char *file = valueOf("--describe="))
      out->describe.file = file;
    else if (const char *comm = valueOf("--comm="))
      status = parseCommChoice(comm, &out->describe.transport, &out->describe.bandwidth,
                               &out->describe.latency);
    else if (argument == kReadPostmortemOption)
      out->readPostmortem = true;
    else if (argument == "-n" && i + 1 < argc)
      status = parseNumber("-n", argv[++i], 1, kMaxRanks, &out->ranks);
    else if (argument.rfind("-n", 0) == 0 && argument.size() > 2)
      status = parseNumber("-n", argv[i] + 2, 1, kMaxRanks, &out->ranks);
    else if (const char *restarts = valueOf("--max-restarts="))
      status = parseNumber("--max-restarts", restarts, 0, kMaxRestarts, &out->maxRestarts);
    else if (const char *nodes = valueOf("--nodes="))
      status = parseNumber("--nodes", nodes, 1, kMaxRanks, &out->nodes);
    else if (const char *index = valueOf("--node-rank="))
      status = parseNumber("--node-rank", index, 0, kMaxRanks - 1, &out->nodeRank);
    else if (const char *place = valueOf("--rendezvous="))
      out->rendezvous = place;
    else if (const char *file = valueOf("--token-file="))
      out->tokenFile = file;
    else if (const char *address = valueOf("--listen="))
      out->listen = address;
    else
      return fail(DPC_USAGE, "unknown option %s, or its value is missing (--help lists all)",
                  argument.c_str());
    if (status)
      return status;
  }
  out->command.assign(argv + i, argv + argc);
  if (dpc_status_t status = passCheck(out))
    return status;
  if (dpc_status_t status = checkDescribe(out, given))
    return status;
  if (out->readPostmortem && out->command.empty())
    return fail(DPC_USAGE, "%s needs the folders that the run had as --postmortem=DIR",
                kReadPostmortemOption);
  if (out->readPostmortem &&
      (out->verify || out->check || out->ranks || out->maxRestarts || out->nodes > 1))
    return fail(DPC_USAGE, "%s runs nothing: it takes folders and no other options",
                kReadPostmortemOption);
  if (out->command.empty() && !out->help && !out->version && out->describe.file.empty())
    return fail(DPC_USAGE, "no program to run (dpc-run [-n N] ./PROGRAM ...)");
  if (out->verify &&
      (out->check || out->ranks || out->maxRestarts || out->nodes > 1 || out->command.size() > 1))
    return fail(DPC_USAGE, "%s runs nothing: it takes a program and no other options (not %s)",
                kVerifyOption,
                out->check         ? kCheckOption
                : out->nodes > 1   ? "--nodes"
                : out->ranks       ? "-n"
                : out->maxRestarts ? "--max-restarts"
                                   : out->command[1].c_str());
  if (out->help || out->version)
    return DPC_OK;
  if (dpc_status_t status = readFrozen(out))
    return status;
  return checkNodes(*out, given);
}

const char *launchHelp() {
  return R"(usage: dpc-run [-n N] [--max-restarts=K] ./PROGRAM [its options]
       dpc-run --nodes=N --node-rank=I --rendezvous=tcp://HOST:PORT --token-file=FILE ./PROGRAM [its options]
       dpc-run --check[=SECONDS] [the options of a run] ./PROGRAM [its options]
       dpc-run --verify ./PROGRAM
       dpc-run --describe[=FILE.json] [-n N] [--comm=NAME,..] [--nodes=N ..]
       dpc-run --read-postmortem DIR..

Starts the ranks of a program made by dpc-compile on this machine and waits for them. With --nodes, one dpc-run on each of
several hosts starts a part of the ranks, and all of them end together.

  -n N                 number of ranks on this host (default: the program's, or an equal part of them per host)
  --nodes=N            number of hosts
  --node-rank=I        number of this host, from 0
  --rendezvous=tcp://HOST:PORT  where the hosts meet: an address and a free port of host 0
  --listen=ADDRESS     address of this host at which its ranks listen for other ranks (default: the one with which they reach host 0)
  --token-file=FILE    the secret of the run, equal on all hosts: 64 hex digits in a file of mode 0600
  --max-restarts=K     start anew up to K times when a rank dies; with --checkpoint the run goes on from the newest one
  --check[=SECONDS]    check whether a run could start, measure each pair of ranks, print a table, and do nothing else; hosts and
                       ranks wait SECONDS for each other (default 3)
  --verify             run nothing: prove the program's plan by playing the tables of all ranks against each other
  --describe[=FILE]    run nothing: measure this host, or all hosts of --nodes, with N ranks each at once (default: one per core),
                       over the transport of --comm, and write a topology file for dpc-compile --topology; takes less than a minute.
                       Without FILE: the file for which dpc-compile plans if it has no --topology, whose path is printed
  --read-postmortem    run nothing: say how a run of --postmortem=DIR ended, by the folders of all its hosts
  --help, --version

Each rank gets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT and, by an open file, the run's secret token.
After SIGTERM, a run with --checkpoint writes one and ends within 20 s.
One line tells why a run ended, whatever died first. The exit code is the cause of a failure, not its symptom: 1 input or request wrong, 2 usage, 3 a rank died or did not
answer, 4 loss not finite, 5 input/output, 130 interrupted.
)";
}

} // namespace dpc
