#ifndef DPC_RUNTIME_SRC_TRAIN_OPTIONS_H
#define DPC_RUNTIME_SRC_TRAIN_OPTIONS_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/session/LoadParameters.h"

#include <string>
#include <utility>
#include <vector>

namespace dpc {

/// The parsed command line of a compiled program.
struct Options {
  std::vector<std::string> data, evalData;
  uint64_t steps = 0, epochs = 0; ///< both 0: one epoch
  uint64_t evalEvery = 0, checkpointEvery = 0, patience = 0, seed = 0;
  bool shuffle = true, resume = false, help = false, version = false, printRanks = false,
       verify = false, warnOnNan = false;
  uint64_t check = 0;    ///< only check whether a run could start, and wait this many seconds for
                         ///< ranks to come; 0: no check
  bool evaluate = false; ///< the run only evaluates: it neither trains nor saves
  std::vector<ParameterSpec> initParams; ///< files of parameters, loaded in this order
  ParameterSpec saveParams;              ///< if the path is empty, parameters are not saved
  /// The folder from which the run resumes if `checkpoint` has no checkpoint yet; empty:
  /// no such folder.
  std::string resumeFrom;
  std::string log, checkpoint, saveOnnx, trace, best;
  std::string postmortem;      ///< folder of the flight recorder's files; empty: there are none
  uint64_t checkState = 0;     ///< compare replicated state after every so many steps; 0: never
  bool checkGradients = false; ///< look for gradients that are not finite in each step
  std::string transport;       ///< empty: the default transport
  std::string cudaGraph;       ///< "on" or "off"; empty: like "on"
  std::string runAhead;        ///< "on" or "off"; empty: like "on"
  std::string tune;            ///< file of the fastest algorithms of products; empty: none
  std::string profile;         ///< file of the device's times of launches; empty: none
  double timeout = 0, bandwidth = 0, latency = 0;
  double frozen = 0;       ///< seconds after which a rank counts as frozen; 0: the default
  double learningRate = 0; ///< 0: the rate of the compiled schedule
  std::vector<std::pair<std::string, std::string>> inputs,
      outputs; ///< inference: name, file
};

/// Parses the command line. If an option is wrong, returns DPC_USAGE with a message that
/// names the option and describes valid values.
dpc_status_t parseOptions(int argc, char **argv, Options *out);

/// The text of --help for the program, which is a training or an inference program.
std::string helpText(const char *executable, const dpc_program_t &program);

/// The text of --version for the program.
std::string versionText(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_OPTIONS_H
