#include "runtime/src/launch/Launch.h"

#include <cstdio>
#include <new>

static int run(int argc, char **argv) {
  dpc::LaunchOptions options;
  if (dpc_status_t status = dpc::parseLaunchOptions(argc, argv, &options)) {
    std::fprintf(stderr, "dpc-run: error: %s\n", dpc_last_error());
    return status;
  }
  if (options.help || options.version) {
    std::fputs(options.help ? dpc::launchHelp() : "dpc-run " DPC_VERSION "\n", stdout);
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
