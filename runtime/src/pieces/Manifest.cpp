// Reads and writes manifest.json of a checkpoint. The manifest has the length and
// the CRC-32 of each file, and lists for each tensor the files that have its
// elements. A manifest may come from an untrusted source, so every field is checked.

#include "runtime/src/pieces/Manifest.h"

#include "dpc/types.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace dpc {

namespace {

using Json = nlohmann::json;

constexpr const char *kPiecePrefix = "state-", *kPieceSuffix = ".safetensors";

bool getNumber(const Json &json, const char *key, uint64_t *out) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number_unsigned())
    return false;
  *out = json[key].get<uint64_t>();
  return true;
}

bool getText(const Json &json, const char *key, std::string *out) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_string())
    return false;
  *out = json[key].get<std::string>();
  return true;
}

const Json *getArray(const Json &json, const char *key) {
  return json.is_object() && json.contains(key) && json[key].is_array() ? &json[key] : nullptr;
}

/// Parses segments, which are [begin, length], [begin, length, count, step] or
/// [begin, length, count, step, count, step].
bool getSegments(const Json &json, Segments *out) {
  if (!json.is_array() || (json.size() != 2 && json.size() != 4 && json.size() != 6))
    return false;
  for (const Json &number : json)
    if (!number.is_number_unsigned())
      return false;
  out->begin = json[0].get<uint64_t>(), out->length = json[1].get<uint64_t>();
  for (size_t k = 0; 2 + 2 * k < json.size(); ++k) {
    out->count[k] = json[2 + 2 * k].get<uint64_t>();
    out->step[k] = json[3 + 2 * k].get<uint64_t>();
  }
  return true;
}

nlohmann::ordered_json toJson(const Segments &each) {
  nlohmann::ordered_json out = {each.begin, each.length};
  for (size_t k = 0; k < 2 && (each.count[0] > 1 || each.count[1] > 1); ++k)
    if (k == 0 || each.count[1] > 1)
      out.insert(out.end(), {each.count[k], each.step[k]});
  return out;
}

class Reader {
public:
  Reader(const std::string &path, Manifest *out) : path(path), out(out) {}

  dpc_status_t read(const Json &json) {
    uint64_t version = 0, bytes = 0, crc = 0;
    if (!getNumber(json, "version", &version))
      return refuse("");
    if (version != 1 && version != 2)
      return fail(DPC_INVALID, "%s: checkpoint version %llu, this program reads 1 and 2",
                  path.c_str(), static_cast<unsigned long long>(version));
    if (!getNumber(json, "step", &out->step) || !getNumber(json, "seed", &out->seed))
      return refuse(": it lacks step or seed");
    getNumber(json, "batch", &out->batch);
    getText(json, "order", &out->order);
    getNumber(json, "schedule_total", &out->scheduleTotal);
    getText(json, "run", &out->run);
    getText(json, "program", &out->program);
    getText(json, "command", &out->command);
    out->listsTensors = version == 2;
    if (out->listsTensors)
      return readPieces(json);
    if (!getNumber(json, "bytes", &bytes) || !getNumber(json, "crc32", &crc) || crc > UINT32_MAX)
      return refuse(": it lacks bytes or crc32");
    out->files.push_back({kWholeStateFile, bytes, static_cast<uint32_t>(crc)});
    return DPC_OK;
  }

private:
  dpc_status_t refuse(const std::string &why) {
    return fail(DPC_INVALID, "%s: not a checkpoint's manifest%s", path.c_str(), why.c_str());
  }

  dpc_status_t readPieces(const Json &json) {
    const Json *list = getArray(json, "files"), *tensors = getArray(json, "tensors");
    if (!list || !tensors)
      return refuse(": it lacks files or tensors");
    for (const Json &each : *list) {
      ManifestFile file;
      uint64_t crc = 0;
      if (!getText(each, "name", &file.name) || !isPieceFileName(file.name) ||
          !getNumber(each, "bytes", &file.bytes) || !getNumber(each, "crc32", &crc) ||
          crc > UINT32_MAX)
        return refuse(": a file in it has no name, bytes and crc32");
      if (!files.emplace(file.name, uint32_t(out->files.size())).second)
        return refuse(": it has " + file.name + " twice");
      file.crc = static_cast<uint32_t>(crc);
      out->files.push_back(file);
    }
    std::set<std::string> names;
    for (const Json &each : *tensors) {
      if (dpc_status_t status = readTensor(each))
        return status;
      if (!names.insert(out->tensors.back().name).second)
        return refuse(": it has tensor \"" + out->tensors.back().name + "\" twice");
    }
    return DPC_OK;
  }

  dpc_status_t readTensor(const Json &json) {
    ManifestTensor tensor;
    std::string type;
    const Json *shape = getArray(json, "shape"), *pieces = getArray(json, "pieces");
    if (!getText(json, "name", &tensor.name) || !getText(json, "dtype", &type) || !shape || !pieces)
      return refuse(": a tensor in it lacks name, dtype, shape or pieces");
    const std::string of = ": tensor \"" + tensor.name + "\" ";
    if (!(tensor.dtype = safetensorsType(type)))
      return refuse(of + "has the unknown type " + type);
    for (const Json &extent : *shape) {
      if (!extent.is_number_unsigned() || extent.get<uint64_t>() > INT64_MAX)
        return refuse(of + "has no shape");
      tensor.shape.push_back(extent.get<int64_t>());
    }
    uint64_t bytes = 0;
    if (tensor.shape.size() > DPC_MAX_RANK_DIMS ||
        !arrayBytes(tensor.dtype, tensor.shape.data(), uint32_t(tensor.shape.size()), &bytes))
      return refuse(of + "has too large a shape");
    std::set<uint32_t> seen;
    for (const Json &each : *pieces) {
      ManifestPiece piece;
      std::string file;
      const Json *segments = getArray(each, "segments");
      if (!getText(each, "file", &file) || !files.count(file) || !segments)
        return refuse(of + "has a piece without segments, or in no file that it lists");
      piece.file = files[file];
      if (!seen.insert(piece.file).second)
        return refuse(of + "has two pieces in " + file);
      for (const Json &numbers : *segments) {
        piece.segments.emplace_back();
        if (!getSegments(numbers, &piece.segments.back()))
          return refuse(of + "has a segment that is not 2, 4 or 6 numbers");
      }
      tensor.pieces.push_back(std::move(piece));
    }
    out->tensors.push_back(std::move(tensor));
    return DPC_OK;
  }

  const std::string &path;
  Manifest *out;
  std::map<std::string, uint32_t> files;
};

} // namespace

std::string pieceFileName(uint32_t rank) {
  return kPiecePrefix + std::to_string(rank) + kPieceSuffix;
}

bool isPieceFileName(const std::string &name) {
  const std::string prefix = kPiecePrefix, suffix = kPieceSuffix;
  if (name.size() <= prefix.size() + suffix.size() || name.rfind(prefix, 0) != 0 ||
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  const std::string digits =
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  return digits.find_first_not_of("0123456789") == std::string::npos &&
         (digits.size() == 1 || (digits[0] != '0' && digits.size() < 10));
}

std::string manifestText(const Manifest &manifest) {
  nlohmann::ordered_json json = {
      {"version", 2},           {"step", manifest.step},       {"seed", manifest.seed},
      {"run", manifest.run},    {"program", manifest.program}, {"command", manifest.command},
      {"batch", manifest.batch}};
  if (!manifest.order.empty())
    json["order"] = manifest.order;
  if (manifest.scheduleTotal)
    json["schedule_total"] = manifest.scheduleTotal;
  json["files"] = nlohmann::ordered_json::array();
  for (const ManifestFile &file : manifest.files)
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"crc32", file.crc}});
  json["tensors"] = nlohmann::ordered_json::array();
  for (const ManifestTensor &tensor : manifest.tensors) {
    nlohmann::ordered_json each = {{"name", tensor.name},
                                   {"dtype", safetensorsTypeName(tensor.dtype)},
                                   {"shape", tensor.shape},
                                   {"pieces", nlohmann::ordered_json::array()}};
    for (const ManifestPiece &piece : tensor.pieces) {
      nlohmann::ordered_json segments = nlohmann::ordered_json::array();
      for (const Segments &segment : piece.segments)
        segments.push_back(toJson(segment));
      each["pieces"].push_back(
          {{"file", manifest.files[piece.file].name}, {"segments", std::move(segments)}});
    }
    json["tensors"].push_back(std::move(each));
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

dpc_status_t parseManifest(const char *text, size_t bytes, const std::string &path, Manifest *out) {
  // A complete manifest ends with a newline. Without this newline, the manifest is
  // truncated or damaged.
  Json json;
  if (bytes && text[bytes - 1] == '\n')
    json = Json::parse(text, text + bytes, nullptr, false);
  return Reader(path, out).read(json);
}

} // namespace dpc
