#ifndef DPC_RUNTIME_SRC_TRAIN_OPTIONS_H
#define DPC_RUNTIME_SRC_TRAIN_OPTIONS_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/session/LoadParameters.h"

#include <string>
#include <utility>
#include <vector>

namespace dpc {

/// The parsed command line of a produced program.
struct Options {
  std::vector<std::string> data, evalData;
  uint64_t steps = 0, epochs = 0; ///< both 0: one epoch
  uint64_t evalEvery = 0, checkpointEvery = 0, patience = 0, seed = 0;
  bool shuffle = true, resume = false, help = false, version = false, printRanks = false,
       verify = false, warnOnNan = false;
  bool evaluate = false;                 ///< only evaluates: neither trains nor saves
  std::vector<ParameterSpec> initParams; ///< loaded in this order
  ParameterSpec saveParams;              ///< no path: parameters are not saved
  /// The folder from which to resume while `checkpoint` has no checkpoint;
  /// empty: none.
  std::string resumeFrom;
  std::string log, checkpoint, saveOnnx, trace, best;
  std::string transport; ///< empty: the default one
  std::string cudaGraph; ///< "on" or "off"; empty: on if there is a CUDA device
  std::string tune;      ///< file of the fastest algorithms of products; empty: none
  double timeout = 0, bandwidth = 0, latency = 0;
  double learningRate = 0; ///< 0: the rate of the compiled schedule
  std::vector<std::pair<std::string, std::string>> inputs,
      outputs; ///< inference: name, file
};

/// Parses the command line. DPC_USAGE, with a message that names the option and
/// describes valid values.
dpc_status_t parseOptions(int argc, char **argv, Options *out);

/// Text of --help, for the kind of program that this is: training or inference.
std::string helpText(const char *executable, const dpc_program_t &program);

/// Text of --version.
std::string versionText(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_OPTIONS_H
