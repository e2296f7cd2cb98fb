#ifndef DPC_RUNTIME_SRC_TRAIN_OPTIONS_H
#define DPC_RUNTIME_SRC_TRAIN_OPTIONS_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/session/LoadParameters.h"

#include <string>
#include <utility>
#include <vector>

namespace dpc {

/// The command line of a produced program.
struct Options {
  std::vector<std::string> data, evalData;
  uint64_t steps = 0, epochs = 0; ///< both 0: one epoch
  uint64_t evalEvery = 0, checkpointEvery = 0, patience = 0, seed = 0;
  bool shuffle = true, resume = false, help = false, version = false, printRanks = false,
       verify = false, warnOnNan = false;
  bool evaluate = false;                 ///< evaluates, and neither trains nor saves
  std::vector<ParameterSpec> initParams; ///< loaded in this order
  ParameterSpec saveParams;              ///< no path: nothing
  /// Where the first checkpoint is, while there is none in `checkpoint`; empty:
  /// nowhere.
  std::string resumeFrom;
  std::string log, checkpoint, saveOnnx, trace, best;
  std::string transport; ///< empty: the default one
  std::string cudaGraph; ///< "on", "off"; empty: on, where there is a CUDA device
  std::string tune;      ///< where to keep how products are made fastest; empty: nowhere
  double timeout = 0, bandwidth = 0, latency = 0;
  double learningRate = 0; ///< 0: as compiled
  std::vector<std::pair<std::string, std::string>> inputs,
      outputs; ///< inference: name, file
};

/// DPC_USAGE names the option and, for values, what would be right.
dpc_status_t parseOptions(int argc, char **argv, Options *out);

/// Text of --help: of what this program does, training or inference.
std::string helpText(const char *executable, const dpc_program_t &program);

/// Text of --version.
std::string versionText(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_OPTIONS_H
