#ifndef DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H
#define DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H

#include "dpc/status.h"

#include <map>
#include <string>

namespace dpc {

/// The file names that Hugging Face uses for the weights of a model in a folder.
/// The weights are in several files (shards) that an index lists, or in one file.
constexpr const char *kShardIndex = "model.safetensors.index.json";
constexpr const char *kWholeModel = "model.safetensors";

/// Whether the path names an index. Only the suffix (".json") is examined.
bool isShardIndexName(const std::string &path);

/// Reads an index, which has for each tensor the name of its file. The file must be
/// in the folder of the index. Returns DPC_INVALID if the file `path` is not an
/// index, or if the index names a file in another folder.
dpc_status_t readShardIndex(const std::string &path, std::map<std::string, std::string> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H
