// Finds the files that a run with these options would use.

#include "runtime/src/train/CheckFiles.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/data/DataSpec.h"
#include "runtime/src/train/OutputFiles.h"

namespace dpc {

/// Checks the values of --data and --eval-data, e.g. that some file matches a pattern.
static dpc_status_t checkSpecs(const char *option, const std::vector<std::string> &specs) {
  DataSpec spec;
  for (const std::string &text : specs)
    if (dpc_status_t status = parseDataSpec(text, &spec))
      return failWithin(status, "%s", option);
  return DPC_OK;
}

CheckRequest checkRequest(const dpc_program_t &program, const Options &options, uint32_t rank) {
  CheckRequest out;
  out.seconds = double(options.check);
  out.folder = options.evaluate ? "" : options.checkpoint;
  for (const NamedFile &file : filesRead(program, options))
    out.reads.push_back({file.option, file.path});
  for (const ParameterSpec &source : options.initParams)
    out.reads.push_back({"--init-params", source.path});
  out.status = checkSpecs("--data", options.data);
  if (out.status == DPC_OK)
    out.status = checkSpecs("--eval-data", options.evalData);
  // Only rank 0 writes, so that it does not matter whether other ranks have a folder.
  if (out.status == DPC_OK && rank == 0 && checkOutputFiles(program, options))
    out.status = DPC_INVALID;
  if (out.status != DPC_OK)
    out.text = dpc_last_error();
  return out;
}

} // namespace dpc
