#ifndef DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H
#define DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H

#include "dpc/status.h"

#include <map>
#include <string>

namespace dpc {

/// Hugging Face's names of a model's weights in a folder: in shards that an index
/// lists, or in one file.
constexpr const char *kShardIndex = "model.safetensors.index.json";
constexpr const char *kWholeModel = "model.safetensors";

/// Whether the path is that of an index, by its name.
bool isShardIndexName(const std::string &path);

/// Reads which file beside the index has which tensor. DPC_INVALID for what is no
/// index, and for a file that would lie in another folder.
dpc_status_t readShardIndex(const std::string &path, std::map<std::string, std::string> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H
