// Chooses the machine for which a program is planned: a topology file, or the target's numbers.

#include "tools/dpc-compile/TopologyChoice.h"

#include "planning/TopologyFile.h"
#include "runtime/src/base/HostFile.h"
#include "targets/Target.h"
#include "tools/common/CommandLine.h"
#include "tools/common/OptionTable.h"
#include "tools/dpc-compile/OptionValues.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace llvm::opt;
using namespace dpc;

/// The value of --topology and of the variable that asks for the target's numbers.
static constexpr StringLiteral kOfTarget = "target";

[[noreturn]] static void refuseTopology(StringRef owner, const Twine &message) {
  errs() << "dpc-compile: error: " << owner << ": " << message << "\n";
  exit(exitInvalid);
}

/// Why a program with these options cannot be planned for `topology`; "" if it can.
static std::string findTopologyDefect(const Topology &topology, const CompileOptions &options) {
  int64_t ranks = 1;
  for (const PlanAxis &axis : options.plan.mesh)
    ranks *= axis.size;
  if (ranks > topology.countDevices())
    return formatv("its levels hold {0} devices, and --mesh has {1}", topology.countDevices(),
                   ranks);
  const StringRef type = options.plan.kernels.factors != FactorForm::whole
                             ? "tf32"
                             : StringRef(options.step.precision);
  if (topology.device.rateOf(*parseNumberType(type)) == 0)
    return ("the device has no rate for " + type + ", the type of --precision").str();
  return "";
}

/// Reads the file `path`, which `owner` names.
static Topology readChosen(StringRef owner, StringRef path) {
  Expected<Topology> topology = readTopologyFile(path);
  if (!topology)
    refuseTopology(owner, toString(topology.takeError()));
  return std::move(*topology);
}

/// Plans for a topology whose file is not on the command line.
static void take(Topology topology, const std::string &path, CompileOptions &options) {
  options.topology = std::move(topology);
  options.command += " --topology=" + path;
  options.otherWords.push_back("--topology=" + path);
}

/// Plans for the file of this host, if there is one.
static void useHostFile(CompileOptions &options) {
  const Target *target = findTarget(options.placed.target);
  // The file has the times of kernels that are made for this host.
  if (target->getName() != "cpu" || options.placed.processor != target->getProcessors().front())
    return;
  const std::string path = hostFile();
  if (path.empty() || !sys::fs::exists(path))
    return;
  Expected<Topology> topology = readTopologyFile(path);
  if (!topology)
    refuseTopology(
        "the measured host",
        toString(topology.takeError()) +
            " (dpc-run --describe measures it again, --topology=target plans without it)");
  const std::string defect = findTopologyDefect(*topology, options);
  if (!defect.empty()) {
    options.topologyNote = "not planned for the measured host, " + path + ": " + defect;
    return;
  }
  options.topologyNote =
      "planned for the measured host, " + path + " (--topology=target: without it)";
  take(std::move(*topology), path, options);
}

void dpc::chooseTopology(const InputArgList &args, CompileOptions &options) {
  const Arg *arg = args.getLastArg(OPT_topology);
  const std::optional<std::string> variable = sys::Process::GetEnv("DPC_TOPOLOGY");
  const bool isVariable = !arg && variable && !variable->empty();
  if (!arg && !isVariable)
    return useHostFile(options);
  const StringRef owner = arg ? "--topology" : "DPC_TOPOLOGY";
  const std::string path = arg ? arg->getValue() : *variable;
  if (path.empty())
    usageError("--topology= needs a file");
  if (path == kOfTarget)
    return;
  Topology topology = readChosen(owner, path);
  if (const std::string defect = findTopologyDefect(topology, options); !defect.empty())
    refuseTopology(owner, path + ": " + defect);
  if (arg) {
    options.topology = std::move(topology);
    return;
  }
  options.topologyNote = "planned for the machine of " + path + " (DPC_TOPOLOGY)";
  take(std::move(topology), path, options);
}
