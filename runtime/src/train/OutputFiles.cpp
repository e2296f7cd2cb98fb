// Checks before the first step that the run can write its final files, so that a typing
// error in a path does not cost hours of training.
#include "runtime/src/train/OutputFiles.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/DataSpec.h"
#include "runtime/src/session/HostPhrase.h"
#include "runtime/src/session/SaveParameters.h"
#include "runtime/src/session/StateFiles.h"
#include "runtime/src/trace/Trace.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

dpc_status_t refuse(const std::string &path, int error) {
  return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(), std::strerror(error));
}

/// Checks that a file can be written. The run will replace the file or, with `inPlace`,
/// append to it.
dpc_status_t checkFile(const std::string &path, bool inPlace) {
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return refuse(path, EISDIR);
  if (exists && (inPlace || !S_ISREG(info.st_mode)))
    return ::access(path.c_str(), W_OK) == 0 ? DPC_OK : refuse(path, errno);
  AtomicFile trial; // its destructor removes the temporary file
  return trial.create(path);
}

/// Checks that files can be created in a folder. The run creates the folder if it does
/// not exist.
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

/// A text that is the same for all paths of one file. The file need not exist. Empty if
/// the path names something other than a regular file, for example /dev/null.
std::string identityOf(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0)
    return S_ISREG(info.st_mode) ? std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino)
                                 : "";
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  char resolved[PATH_MAX];
  return (::realpath(folder.c_str(), resolved) ? std::string(resolved) + "/" : folder) +
         path.substr(slash == std::string::npos ? 0 : slash + 1);
}

} // namespace

std::vector<NamedFile> filesRead(const dpc_program_t &program, const Options &options) {
  std::vector<NamedFile> out;
  for (const std::string &spec : options.data)
    for (const std::string &path : filesOfData(spec))
      out.push_back({"--data", path});
  for (const std::string &spec : options.evalData)
    for (const std::string &path : filesOfData(spec))
      out.push_back({"--eval-data", path});
  for (const auto &[name, pattern] : options.inputs)
    for (const std::string &path : filesOfData(name + "=" + pattern))
      out.push_back({"--input=" + name, path});
  const std::string executable = programFile(),
                    file = program.parameter_file ? program.parameter_file : "";
  if (!executable.empty()) {
    out.push_back({"the program", executable});
    if (!file.empty())
      out.push_back(
          {"the program's parameters", file[0] == '/' ? file : programFolder() + "/" + file});
  }
  return out;
}

dpc_status_t checkOutputFiles(const dpc_program_t &program, const Options &options) {
  std::vector<NamedFile> outputs = {{"--log", options.log, true},
                                    {"--save-params", options.saveParams.path},
                                    {"--save-onnx", options.saveOnnx}};
  for (const auto &[name, path] :
       {std::pair("--trace", &options.trace), std::pair("--profile", &options.profile)})
    for (uint32_t r = 0; r < program.world_size && !path->empty(); ++r)
      outputs.push_back({name, Trace::fileOfRank(*path, r)});
  for (const auto &[name, path] : options.outputs)
    outputs.push_back({"--output=" + name, path});
  const std::vector<NamedFile> inputs = filesRead(program, options);
  std::map<std::string, const NamedFile *> written, read;
  for (const NamedFile &input : inputs)
    read.emplace(identityOf(input.path), &input);
  for (const NamedFile &output : outputs) {
    if (output.path.empty())
      continue;
    if (dpc_status_t status = checkFile(output.path, output.inPlace))
      return failWithin(status, "%s", output.option.c_str());
    const std::string identity = identityOf(output.path);
    if (identity.empty())
      continue;
    if (const auto same = read.find(identity); same != read.end())
      return fail(DPC_INVALID, "%s would overwrite %s, which this run reads (%s)",
                  output.option.c_str(), output.path.c_str(), same->second->option.c_str());
    const auto [other, isNew] = written.emplace(identity, &output);
    if (!isNew)
      return fail(DPC_INVALID, "%s and %s both write %s", other->second->option.c_str(),
                  output.option.c_str(), output.path.c_str());
  }
  if (!options.checkpoint.empty() && !options.evaluate)
    if (dpc_status_t status = checkDirectory(options.checkpoint))
      return failWithin(status, "--checkpoint");
  std::vector<SavedTensor> saved;
  if (!options.saveParams.path.empty())
    if (dpc_status_t status = listSavedTensors(program, options.saveParams, &saved))
      return status;
  return options.saveOnnx.empty() ? dpc_status_t(DPC_OK) : checkOnnx(program);
}

dpc_status_t checkRankFiles(const dpc_session &session, const Options &options) {
  const uint32_t rank = session.options.rank;
  if (rank == 0 || dpc_comm_host_count(session.comm) == 1)
    return DPC_OK;
  for (const auto &[name, path] :
       {std::pair("--trace", &options.trace), std::pair("--profile", &options.profile)})
    if (!path->empty())
      if (dpc_status_t status = checkFile(Trace::fileOfRank(*path, rank), false))
        return failWithin(status, "%s: %s", name,
                          hostPhrase(*session.comm, rank, hostName()).c_str());
  return DPC_OK;
}

dpc_status_t writeModelFiles(dpc_session &session, const Options &options) {
  if (!options.saveParams.path.empty())
    if (dpc_status_t status = saveParameters(session, options.saveParams))
      return status;
  return options.saveOnnx.empty() ? dpc_status_t(DPC_OK)
                                  : dpc_session_save_onnx(&session, options.saveOnnx.c_str());
}

} // namespace dpc
