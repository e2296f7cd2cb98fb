// What a run writes at its end is tried before its first step: hours of
// training do not end in a typing error.
#include "runtime/src/train/OutputFiles.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/session/StateFiles.h"
#include "runtime/src/trace/Trace.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

dpc_status_t refuse(const std::string &path, int error) {
  return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(), std::strerror(error));
}

/// A file that replaces what has its name, or, with `inPlace`, is opened under
/// it.
dpc_status_t checkFile(const std::string &path, bool inPlace) {
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return refuse(path, EISDIR);
  if (exists && (inPlace || !S_ISREG(info.st_mode)))
    return ::access(path.c_str(), W_OK) == 0 ? DPC_OK : refuse(path, errno);
  AtomicFile trial; // removes what it made
  return trial.create(path);
}

/// A folder that is made if it is not there.
dpc_status_t checkDirectory(const std::string &path) {
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISDIR(info.st_mode))
    return refuse(path, ENOTDIR);
  const std::string trial = exists ? path + "/.trial-" + std::to_string(::getpid()) : path;
  if (::mkdir(trial.c_str(), 0777) != 0)
    return refuse(path, errno);
  ::rmdir(trial.c_str());
  return DPC_OK;
}

} // namespace

dpc_status_t checkOutputFiles(const dpc_program_t &program, const Options &options) {
  struct Output {
    std::string option, path;
    bool inPlace;
  };
  std::vector<Output> outputs = {{"--log", options.log, true},
                                 {"--save-params", options.saveParams, false},
                                 {"--save-onnx", options.saveOnnx, false}};
  for (uint32_t r = 0; r < program.world_size && !options.trace.empty(); ++r)
    outputs.push_back({"--trace", Trace::fileOfRank(options.trace, r), false});
  for (const auto &[name, path] : options.outputs)
    outputs.push_back({"--output=" + name, path, false});
  std::map<std::string, const Output *> taken;
  for (const Output &output : outputs) {
    if (output.path.empty())
      continue;
    if (dpc_status_t status = checkFile(output.path, output.inPlace))
      return failWithin(status, "%s", output.option.c_str());
    const auto [other, isNew] = taken.emplace(output.path, &output);
    struct stat info;
    const bool isFile = ::stat(output.path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
    if (!isNew && isFile)
      return fail(DPC_INVALID, "%s and %s both write %s", other->second->option.c_str(),
                  output.option.c_str(), output.path.c_str());
  }
  if (!options.checkpoint.empty())
    if (dpc_status_t status = checkDirectory(options.checkpoint))
      return failWithin(status, "--checkpoint");
  return options.saveOnnx.empty() ? dpc_status_t(DPC_OK) : checkOnnx(program);
}

dpc_status_t writeModelFiles(dpc_session &session, const Options &options) {
  if (!options.saveParams.empty())
    if (dpc_status_t status = dpc_session_save_params(&session, options.saveParams.c_str()))
      return status;
  return options.saveOnnx.empty() ? dpc_status_t(DPC_OK)
                                  : dpc_session_save_onnx(&session, options.saveOnnx.c_str());
}

} // namespace dpc
