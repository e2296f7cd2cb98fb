#include "runtime/src/launch/Launch.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

static int run(int argc, char **argv) {
  // Ignoring the signal, also for the ranks, makes write() fail at a file-size
  // limit, so that a message can be printed.
  std::signal(SIGXFSZ, SIG_IGN);
  dpc::LaunchOptions options;
  if (dpc_status_t status = dpc::parseLaunchOptions(argc, argv, &options)) {
    std::fprintf(stderr, "dpc-run: error: %s\n", dpc_last_error());
    return status;
  }
  if (options.help || options.version) {
    if (std::fputs(options.help ? dpc::launchHelp() : "dpc-run " DPC_VERSION "\n", stdout) < 0 ||
        std::fflush(stdout) != 0) {
      std::fprintf(stderr, "dpc-run: error: standard output: %s\n", std::strerror(errno));
      return DPC_IO;
    }
    return 0;
  }
  return dpc::launch(options);
}

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("dpc-run: error: out of memory\n", stderr);
    return DPC_IO;
  }
}
