#include "runtime/src/launch/Launch.h"

#include <cstdio>

int main(int argc, char **argv) {
  dpc::LaunchOptions options;
  if (dpc_status_t status = dpc::parseLaunchOptions(argc, argv, &options)) {
    std::fprintf(stderr, "dpc-run: error: %s\n", dpc_last_error());
    return status;
  }
  if (options.help || options.version) {
    std::fputs(options.help ? dpc::launchHelp() : "dpc-run " DPC_VERSION "\n",
               stdout);
    return 0;
  }
  return dpc::launch(options);
}
