// Reads ranges of elements of tensors from files. A tensor may be in several files,
// and each file then has a piece of it.

#include "runtime/src/pieces/TensorFiles.h"

#include "dpc/safetensors.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/pieces/ShardIndex.h"

#include <cstring>
#include <map>
#include <set>
#include <sys/stat.h>

namespace dpc {

namespace {

/// At most this many bytes of files are kept in memory.
constexpr uint64_t kMostKept = 8u << 20;
/// Each read counts as this many bytes more than it reads, because a page fault also
/// loads neighbouring pages.
constexpr uint64_t kPerRead = 64u << 10;

bool exists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool isFolder(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// The folder of a file, as the beginning of the paths of other files in it.
std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// Compares a piece in the manifest with `array`, the array that the piece's file has
/// under the tensor's name. `array` is null if the file has none.
dpc_status_t checkPiece(const ManifestTensor &tensor, const ManifestPiece &piece,
                        const dpc_array_t *array) {
  if (!array)
    return fail(DPC_INVALID, "lacks its piece of tensor \"%s\"", tensor.name.c_str());
  if (array->dtype != tensor.dtype)
    return fail(DPC_INVALID, "tensor \"%s\" has type %s, the manifest says %s", tensor.name.c_str(),
                dpc_dtype_name(array->dtype), dpc_dtype_name(tensor.dtype));
  const uint64_t have = dpc_array_elements(array), named = elementsOf(piece.segments);
  if (have == named)
    return DPC_OK;
  return fail(DPC_INVALID, "tensor \"%s\" has %llu elements, the manifest says %llu",
              tensor.name.c_str(), static_cast<unsigned long long>(have),
              static_cast<unsigned long long>(named));
}

} // namespace

FileTensor::FileTensor(const dpc_array_t &whole) : array(whole) {
  Segments all;
  all.length = dpc_array_elements(&whole);
  if (all.length)
    pieces.push_back({static_cast<const char *>(whole.data), {all}});
}

void FileTensor::read(uint64_t begin, uint64_t count, char *to) const {
  const uint64_t size = dpc_dtype_size(array.dtype);
  for (const TensorPiece &piece : pieces)
    forEachOverlap(piece.segments, begin, begin + count,
                   [&](uint64_t global, uint64_t length, uint64_t position) {
                     std::memcpy(to + (global - begin) * size, piece.data + position * size,
                                 length * size);
                     if (files)
                       files->wasRead(length * size);
                   });
}

TensorFiles::~TensorFiles() {
  for (dpc_array_file_t *file : files)
    dpc_array_file_close(file);
}

void TensorFiles::wasRead(uint64_t bytes) const {
  unforgotten += bytes + kPerRead;
  if (unforgotten < kMostKept)
    return;
  unforgotten = 0;
  for (const dpc_array_file_t *file : files)
    for (const Mapping &memory : file->memory)
      memory.forget();
}

void TensorFiles::addWhole(const dpc_array_file_t &file) {
  for (const dpc_array_t &array : file.arrays)
    tensors.emplace_back(array).files = this;
}

dpc_status_t TensorFiles::openPath(const std::string &path) {
  if (!isFolder(path))
    return isShardIndexName(path) ? openShards(path) : openFile(path);
  if (!exists(path + "/" + kManifest)) {
    if (exists(path + "/" + kShardIndex))
      return openShards(path + "/" + kShardIndex);
    if (exists(path + "/" + kWholeModel))
      return openFile(path + "/" + kWholeModel);
    if (const std::vector<uint64_t> steps = listCheckpoints(path); !steps.empty())
      return fail(DPC_INVALID, "%s is a folder of checkpoints: name one, such as the newest, %s/%s",
                  path.c_str(), path.c_str(), stepFolderName(steps[0]).c_str());
    return fail(DPC_INVALID, "%s has neither %s (a checkpoint) nor %s nor %s", path.c_str(),
                kManifest, kShardIndex, kWholeModel);
  }
  ofCheckpoint = true;
  std::string folderPath = path;
  while (folderPath.size() > 1 && folderPath.back() == '/')
    folderPath.pop_back();
  const size_t slash = folderPath.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : folderPath.substr(0, slash);
  StepFolder folder;
  Manifest manifest;
  if (dpc_status_t status =
          folder.open(parent.empty() ? "/" : parent,
                      folderPath.substr(slash == std::string::npos ? 0 : slash + 1)))
    return status;
  if (dpc_status_t status = folder.readManifest(&manifest))
    return status;
  return openFolder(folder, manifest);
}

std::vector<std::string> TensorFiles::filesOfPath(const std::string &path) {
  const bool isInFolder = isFolder(path);
  if (isInFolder && exists(path + "/" + kManifest))
    return filesOfCheckpoint(path);
  if (isInFolder && !exists(path + "/" + kShardIndex))
    return {path + "/" + kWholeModel};
  const std::string first = isInFolder ? path + "/" + kShardIndex : path;
  std::vector<std::string> out = {first};
  std::map<std::string, std::string> shardOf;
  std::set<std::string> shards;
  if (isShardIndexName(first) && readShardIndex(first, &shardOf) == DPC_OK)
    for (const auto &[tensor, shard] : shardOf)
      shards.insert(shard);
  for (const std::string &shard : shards)
    out.push_back(folderOf(first) + shard);
  return out;
}

dpc_status_t TensorFiles::openFile(const std::string &path) {
  files.emplace_back();
  if (dpc_status_t status = dpc_safetensors_open(path.c_str(), &files.back()))
    return status;
  addWhole(*files.back());
  return DPC_OK;
}

dpc_status_t TensorFiles::openShards(const std::string &index) {
  std::map<std::string, std::string> shardOf;
  if (dpc_status_t status = readShardIndex(index, &shardOf))
    return status;
  const std::string folder = folderOf(index);
  std::map<std::string, std::set<std::string>> shards;
  for (const auto &[tensor, shard] : shardOf)
    shards[shard].insert(tensor);
  for (auto &[shard, tensors] : shards) {
    if (!exists(folder + shard))
      return fail(DPC_IO, "%s: No such file, but %s lists it", (folder + shard).c_str(),
                  index.c_str());
    if (dpc_status_t status = openFile(folder + shard))
      return status;
    for (const dpc_array_t &array : files.back()->arrays)
      tensors.erase(array.name);
    if (!tensors.empty())
      return fail(DPC_INVALID, "%s lacks tensor \"%s\", which %s says is in it",
                  (folder + shard).c_str(), tensors.begin()->c_str(), index.c_str());
  }
  return DPC_OK;
}

dpc_status_t TensorFiles::openFolder(const StepFolder &folder, const Manifest &manifest) {
  for (const ManifestFile &file : manifest.files) {
    Mapping mapping;
    if (dpc_status_t status = folder.mapFile(file, &mapping))
      return status;
    files.emplace_back();
    if (dpc_status_t status =
            openSafetensors(std::move(mapping), folder.pathOf(file.name).c_str(), &files.back()))
      return status;
    if (!manifest.listsTensors)
      addWhole(*files.back());
  }
  return manifest.listsTensors ? openPieces(folder, manifest) : dpc_status_t(DPC_OK);
}

dpc_status_t TensorFiles::openPieces(const StepFolder &folder, const Manifest &manifest) {
  std::vector<std::map<std::string, const dpc_array_t *>> unused(files.size());
  for (size_t f = 0; f < files.size(); ++f)
    for (const dpc_array_t &array : files[f]->arrays)
      unused[f].emplace(array.name, &array);
  for (const ManifestTensor &tensor : manifest.tensors) {
    dpc_array_t like = {"", tensor.dtype, uint32_t(tensor.shape.size()), {}, nullptr};
    std::copy(tensor.shape.begin(), tensor.shape.end(), like.shape);
    std::vector<const std::vector<Segments> *> cover;
    for (const ManifestPiece &piece : tensor.pieces)
      cover.push_back(&piece.segments);
    if (dpc_status_t status = checkCover(cover, dpc_array_elements(&like)))
      return failWithin(status, "%s: tensor \"%s\"", folder.pathOf(kManifest).c_str(),
                        tensor.name.c_str());
    std::vector<TensorPiece> pieces;
    for (const ManifestPiece &piece : tensor.pieces) {
      auto found = unused[piece.file].find(tensor.name);
      const dpc_array_t *array = found == unused[piece.file].end() ? nullptr : found->second;
      if (dpc_status_t status = checkPiece(tensor, piece, array))
        return failWithin(status, "%s", folder.pathOf(manifest.files[piece.file].name).c_str());
      pieces.push_back({static_cast<const char *>(array->data), piece.segments});
      unused[piece.file].erase(found);
    }
    like.name = names.emplace_back(tensor.name).c_str();
    tensors.emplace_back(like, std::move(pieces)).files = this;
  }
  for (size_t f = 0; f < files.size(); ++f)
    if (!unused[f].empty())
      return fail(DPC_INVALID, "%s: tensor \"%s\" is a piece that is not in its manifest",
                  folder.pathOf(manifest.files[f].name).c_str(), unused[f].begin()->first.c_str());
  return DPC_OK;
}

} // namespace dpc
