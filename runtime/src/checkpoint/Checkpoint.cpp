// A checkpoint is a directory that appears by one rename. It holds logical
// tensors, so any layout can read it.
#include "runtime/src/checkpoint/Checkpoint.h"

#include "dpc/safetensors.h"
#include "runtime/src/core/StateFiles.h"
#include "runtime/src/core/Status.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/data/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace dpc {

namespace {

constexpr size_t kKept = 3;
constexpr const char *kStateFile = "state.safetensors";
constexpr const char *kManifest = "manifest.json";

std::string nameOf(uint64_t step) { return "step-" + std::to_string(step); }

void removeCheckpoint(const std::string &path) {
  for (const char *file : {kManifest, kStateFile})
    ::unlink((path + "/" + file).c_str());
  ::rmdir(path.c_str());
}

struct Manifest {
  uint64_t step = 0, seed = 0, bytes = 0;
  uint32_t crc = 0;
};

dpc_status_t readManifest(const std::string &path, Manifest *out) {
  Mapping text;
  const std::string file = path + "/" + kManifest;
  if (dpc_status_t status = text.openFile(file.c_str()))
    return status;
  nlohmann::json json = nlohmann::json::parse(
      text.data(), text.data() + text.size(), nullptr, false);
  auto number = [&](const char *key, uint64_t *value) {
    if (!json.is_object() || !json.contains(key) ||
        !json[key].is_number_unsigned())
      return false;
    *value = json[key].get<uint64_t>();
    return true;
  };
  // It ends as it was written: a shorter or longer one is damaged too.
  if (text.size() == 0 || text.data()[text.size() - 1] != '\n')
    json = nullptr;
  uint64_t version = 0, crc = 0;
  if (!number("version", &version) || !number("step", &out->step) ||
      !number("seed", &out->seed) || !number("bytes", &out->bytes) ||
      !number("crc32", &crc) || crc > UINT32_MAX)
    return fail(DPC_INVALID, "%s: not a checkpoint's manifest", file.c_str());
  if (version != 1)
    return fail(DPC_INVALID,
                "%s: checkpoint version %llu, this program reads 1",
                file.c_str(), static_cast<unsigned long long>(version));
  out->crc = static_cast<uint32_t>(crc);
  return DPC_OK;
}

/// Length and checksum of the state file against its manifest.
dpc_status_t verify(const std::string &path, const Manifest &manifest) {
  Mapping state;
  const std::string file = path + "/" + kStateFile;
  if (dpc_status_t status = state.openFile(file.c_str()))
    return status;
  if (state.size() != manifest.bytes)
    return fail(DPC_INVALID, "%s has %zu bytes, its manifest says %llu",
                file.c_str(), state.size(),
                static_cast<unsigned long long>(manifest.bytes));
  if (::crc32_z(0, reinterpret_cast<const unsigned char *>(state.data()),
                state.size()) != manifest.crc)
    return fail(DPC_INVALID,
                "%s: its checksum does not match its manifest (damaged)",
                file.c_str());
  return DPC_OK;
}

dpc_status_t checksumFile(const std::string &path, uint64_t *outBytes,
                          uint32_t *outCrc) {
  Mapping file;
  if (dpc_status_t status = file.openFile(path.c_str()))
    return status;
  *outBytes = file.size();
  *outCrc = static_cast<uint32_t>(::crc32_z(
      0, reinterpret_cast<const unsigned char *>(file.data()), file.size()));
  return DPC_OK;
}

dpc_status_t writeCheckpoint(const dpc_session &session,
                             const std::string &directory,
                             const std::vector<dpc_array_t> &arrays) {
  const uint64_t step = session.control.step;
  const std::string target = directory + "/" + nameOf(step),
                    making =
                        directory + "/.making-" + std::to_string(::getpid());
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return fail(DPC_IO, "%s: cannot be made: %s", directory.c_str(),
                std::strerror(errno));
  removeCheckpoint(making);
  if (::mkdir(making.c_str(), 0777) != 0)
    return fail(DPC_IO, "%s: cannot be written: %s", directory.c_str(),
                std::strerror(errno));
  const std::string stepText = std::to_string(step);
  const dpc_metadata_t metadata[] = {{"step", stepText.c_str()},
                                     {"program", session.program.name},
                                     {"command", session.program.command}};
  uint64_t bytes = 0;
  uint32_t crc = 0;
  dpc_status_t status =
      dpc_safetensors_write((making + "/" + kStateFile).c_str(), arrays.data(),
                            arrays.size(), metadata, 3);
  if (status == DPC_OK)
    status = checksumFile(making + "/" + kStateFile, &bytes, &crc);
  if (status == DPC_OK) {
    nlohmann::ordered_json json = {{"version", 1},
                                   {"step", step},
                                   {"seed", session.control.seed},
                                   {"bytes", bytes},
                                   {"crc32", crc}};
    json["program"] = session.program.name;
    const std::string text =
        json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
        "\n";
    AtomicFile manifest;
    if ((status = manifest.create(making + "/" + kManifest)) == DPC_OK &&
        (status = manifest.write(text.data(), text.size())) == DPC_OK)
      status = manifest.commit();
  }
  if (status == DPC_OK) {
    removeCheckpoint(target); // of the same run and step: the same contents
    if (::rename(making.c_str(), target.c_str()) != 0)
      status = fail(DPC_IO, "%s: cannot be written: %s", target.c_str(),
                    std::strerror(errno));
    else
      status = syncDirectoryOf(target);
  }
  if (status) {
    removeCheckpoint(making);
    return status;
  }
  const std::vector<uint64_t> steps = listCheckpoints(directory);
  for (size_t i = kKept; i < steps.size(); ++i)
    removeCheckpoint(directory + "/" + nameOf(steps[i]));
  return DPC_OK;
}

/// Rank 0 chooses; DPC_OK and *outStep, or why there is none.
dpc_status_t choose(const std::string &directory, uint64_t *outStep) {
  const std::vector<uint64_t> steps = listCheckpoints(directory);
  if (steps.empty())
    return fail(DPC_INVALID, "%s holds no checkpoint", directory.c_str());
  dpc_status_t status = DPC_OK;
  for (uint64_t step : steps) {
    Manifest manifest;
    const std::string path = directory + "/" + nameOf(step);
    status = readManifest(path, &manifest);
    if (status == DPC_OK && manifest.step != step)
      status =
          fail(DPC_INVALID, "%s: its manifest is of step %llu", path.c_str(),
               static_cast<unsigned long long>(manifest.step));
    if (status == DPC_OK)
      status = verify(path, manifest);
    if (status == DPC_OK) {
      *outStep = step;
      return DPC_OK;
    }
    std::fprintf(stderr, "note: skipping a damaged checkpoint: %s\n",
                 dpc_last_error());
  }
  // A file that is not there is as damaged as any other.
  return fail(DPC_INVALID, "no usable checkpoint: %s",
              std::string(dpc_last_error()).c_str());
}

} // namespace

std::vector<uint64_t> listCheckpoints(const std::string &directory) {
  std::vector<uint64_t> steps;
  DIR *listing = ::opendir(directory.c_str());
  if (!listing)
    return steps;
  while (const dirent *entry = ::readdir(listing)) {
    char *end = nullptr;
    if (std::strncmp(entry->d_name, "step-", 5) != 0 ||
        entry->d_name[5] < '0' || entry->d_name[5] > '9')
      continue;
    errno = 0;
    const uint64_t step = std::strtoull(entry->d_name + 5, &end, 10);
    if (errno == 0 && *end == 0 && nameOf(step) == entry->d_name)
      steps.push_back(step);
  }
  ::closedir(listing);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

dpc_status_t saveCheckpoint(dpc_session &session,
                            const std::string &directory) {
  return collectStates(
      session, [](const dpc_state_t &) { return true; },
      [&](const std::vector<dpc_array_t> &arrays) {
        return writeCheckpoint(session, directory, arrays);
      });
}

dpc_status_t resumeCheckpoint(dpc_session &session,
                              const std::string &directory) {
  uint64_t step = 0;
  if (session.options.rank == 0) {
    if (dpc_status_t status = choose(directory, &step))
      return session.failed(status);
    std::memcpy(session.memory.scratch(), &step, sizeof step);
  }
  if (dpc_status_t status = dpc_comm_barrier(session.comm))
    return status;
  std::memcpy(&step, session.memory.scratch(), sizeof step);
  const std::string path = directory + "/" + nameOf(step);
  Manifest manifest;
  dpc_array_file_t *opened = nullptr;
  if (dpc_status_t status = readManifest(path, &manifest))
    return session.failed(status);
  if (manifest.seed != session.control.seed)
    return session.failed(
        fail(DPC_INVALID,
             "%s was written with --seed=%llu, this run has --seed=%llu",
             path.c_str(), static_cast<unsigned long long>(manifest.seed),
             static_cast<unsigned long long>(session.control.seed)));
  if (dpc_status_t status =
          dpc_safetensors_open((path + "/" + kStateFile).c_str(), &opened))
    return session.failed(status);
  std::unique_ptr<dpc_array_file_t, void (*)(dpc_array_file_t *)> file(
      opened, dpc_array_file_close);
  if (dpc_status_t status = loadAllStates(session, *file))
    return session.failed(failWithin(status, "%s", path.c_str()));
  session.control.step = step;
  return dpc_comm_barrier(session.comm);
}

} // namespace dpc
