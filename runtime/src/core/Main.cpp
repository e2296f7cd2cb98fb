// The main function of produced programs: command line, place in the run,
// training or inference, exit code.
#include "runtime/src/core/Environment.h"
#include "runtime/src/core/Status.h"
#include "runtime/src/core/Trainer.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <new>

using namespace dpc;

namespace {

volatile int stopRequested = 0;

/// The first interrupt asks for a stop after this step, a second one ends the
/// process.
extern "C" void onInterrupt(int signal) {
  stopRequested = 1;
  std::signal(signal, SIG_DFL);
}

void catchSignals() {
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int finish(dpc_status_t status, bool report) {
  if (status != DPC_OK && report)
    std::fprintf(stderr, "%s: %s\n",
                 status == DPC_INTERRUPTED ? "note" : "error",
                 dpc_last_error());
  return status;
}

dpc_status_t runProgram(const dpc_program_t &program, const Options &options,
                        const dpc_session_options_t &place, bool *outReport) {
  auto session = std::make_unique<dpc_session>(program, place);
  session->stopRequest = &stopRequested;
  dpc_status_t status = session->open();
  if (status == DPC_OK) {
    const bool trains =
        program.ranks[place.rank].entries[DPC_ENTRY_STEP].count != 0;
    status = trains ? Trainer(*session, options).run()
                    : runInference(*session, options);
  }
  *outReport = session->reports(status);
  if (status == DPC_INTERRUPTED)
    *outReport = place.rank == 0;
  // A trace of a run that failed on its way is worth having; its own failure
  // counts only when nothing else did.
  if (session->executor && !options.trace.empty() &&
      (status == DPC_OK || !session->trace.empty())) {
    std::string cause = dpc_last_error();
    dpc_status_t traced =
        session->trace.write(options.trace, program, place.rank);
    if (status == DPC_OK)
      status = traced, *outReport = true;
    else
      fail(status, "%s", cause.c_str());
  }
  std::string cause = dpc_last_error();
  session.reset();
  return status ? fail(status, "%s", cause.c_str()) : DPC_OK;
}

} // namespace

extern "C" int dpc_main(int argc, char **argv, const dpc_program_t *program) {
  bool report = true;
  try {
    Options options;
    dpc_session_options_t place;
    dpc_status_t status = optionsFromEnvironment(&place);
    if (status)
      return finish(status, true);
    // Every rank has the same command line: one tells what is wrong with it.
    if ((status = parseOptions(argc, argv, &options)))
      return finish(status, place.rank == 0);
    if (options.printRanks) {
      std::printf("%u\n", program->world_size);
      return DPC_OK;
    }
    if (options.help || options.version) {
      if (place.rank == 0)
        std::fputs(options.help ? helpText(argv[0], *program).c_str()
                                : versionText(*program).c_str(),
                   stdout);
      return DPC_OK;
    }
    place.timeout_seconds = options.timeout;
    place.bandwidth = options.bandwidth;
    place.latency = options.latency;
    place.seed = options.seed;
    place.learning_rate = options.learningRate;
    place.trace = options.trace.empty() ? nullptr : options.trace.c_str();
    catchSignals();
    status = runProgram(*program, options, place, &report);
    return finish(status, report);
  } catch (const std::bad_alloc &) {
    return finish(fail(DPC_IO, "out of memory"), report);
  }
}
