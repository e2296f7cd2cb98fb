// Reads the index of a model whose weights are in several files. Hugging Face writes:
// {"metadata": .., "weight_map": {"TENSOR": "model-00001-of-00002.safetensors"}}.
#include "runtime/src/pieces/ShardIndex.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/data/ArrayFile.h"

#include <nlohmann/json.hpp>

namespace dpc {

bool isShardIndexName(const std::string &path) {
  constexpr const char *kSuffix = ".json";
  const size_t length = std::char_traits<char>::length(kSuffix);
  return path.size() > length && path.compare(path.size() - length, length, kSuffix) == 0;
}

dpc_status_t readShardIndex(const std::string &path, std::map<std::string, std::string> *out) {
  Mapping text;
  if (dpc_status_t status = text.openFile(path.c_str()))
    return status;
  const nlohmann::json json = nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr,
                                                    /*allow_exceptions=*/false);
  auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object())
    return fail(DPC_INVALID, "%s: not an index of safetensors files: it lacks weight_map",
                path.c_str());
  for (const auto &[tensor, file] : map->items()) {
    if (!file.is_string())
      return fail(DPC_INVALID, "%s: tensor \"%s\" names no file", path.c_str(), tensor.c_str());
    const std::string name = file.get<std::string>();
    if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
      return fail(DPC_INVALID, "%s: tensor \"%s\" is in \"%s\", which is no file beside it",
                  path.c_str(), tensor.c_str(), name.c_str());
    out->emplace(tensor, name);
  }
  return DPC_OK;
}

} // namespace dpc
