#include "runtime/src/base/Version.h"

const char *dpc::runtimeVersion() { return "dpc " DPC_VERSION; }
