#ifndef DPC_RUNTIME_SRC_PIECES_MANIFEST_H
#define DPC_RUNTIME_SRC_PIECES_MANIFEST_H

#include "dpc/status.h"
#include "runtime/src/pieces/Segments.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

struct ManifestFile {
  std::string name;
  uint64_t bytes = 0;
  uint32_t crc = 0; ///< CRC-32 of the file's contents
};

/// A piece of a tensor: the elements of the tensor that one file has. The file has
/// them under the tensor's name, in the order of `segments`.
struct ManifestPiece {
  uint32_t file = 0; ///< index in Manifest::files
  std::vector<Segments> segments;
};

struct ManifestTensor {
  std::string name;
  uint32_t dtype = 0;
  std::vector<int64_t> shape;
  std::vector<ManifestPiece> pieces;
};

/// The contents of manifest.json, which describes the other files of a
/// checkpoint.
struct Manifest {
  uint64_t step = 0, seed = 0;
  uint64_t batch = 0; ///< samples per step; 0: not recorded
  std::string order;  ///< order of the samples (see CheckpointRun); empty: not recorded
  /// Last planned step of the run, if the learning rates depend on this step;
  /// otherwise 0.
  uint64_t scheduleTotal = 0;
  std::string run; ///< id of the run that wrote the checkpoint; empty: not recorded
  std::string program, command;
  std::vector<ManifestFile> files;
  /// Whether the manifest lists tensors. A manifest of version 1 does not: its only
  /// file has every tensor in one piece.
  bool listsTensors = true;
  std::vector<ManifestTensor> tensors;
};

/// Name of the file with the pieces that a rank wrote, e.g. "state-3.safetensors".
std::string pieceFileName(uint32_t rank);

/// Whether `name` is the pieceFileName of any rank.
bool isPieceFileName(const std::string &name);

/// The only file of tensors in a checkpoint of version 1.
constexpr const char *kWholeStateFile = "state.safetensors";

/// Writes a manifest as text, in version 2 of the format.
std::string manifestText(const Manifest &manifest);

/// Parses a manifest of version 1 or 2. Returns DPC_INVALID if the text is malformed,
/// if a piece refers to a file that the manifest does not list, or if a tensor has
/// two pieces in one file. The message begins with `path`. Does not check that the
/// pieces together are complete tensors; TensorFiles does that.
dpc_status_t parseManifest(const char *text, size_t bytes, const std::string &path, Manifest *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_MANIFEST_H
