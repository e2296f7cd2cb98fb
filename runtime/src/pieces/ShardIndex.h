#ifndef DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H
#define DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H

#include "dpc/status.h"

#include <map>
#include <string>

namespace dpc {

/// Hugging Face's file names for the weights of a model in a folder: an index
/// that lists shards, or a single file.
constexpr const char *kShardIndex = "model.safetensors.index.json";
constexpr const char *kWholeModel = "model.safetensors";

/// Whether the path names an index; only its suffix is examined.
bool isShardIndexName(const std::string &path);

/// Reads an index: for each tensor the name of its file, which is in the
/// index's folder. DPC_INVALID if the file is not an index, or if it names a
/// file in another folder.
dpc_status_t readShardIndex(const std::string &path, std::map<std::string, std::string> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_SHARDINDEX_H
