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

/// A part of a tensor. The file has its elements under the tensor's name, in
/// the order of `segments`.
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
  std::string order;  ///< order of the samples (CheckpointRun); empty: not recorded
  /// Last step of the run if its learning rates depend on it, otherwise 0.
  uint64_t scheduleTotal = 0;
  std::string run; ///< id of the run that wrote it; empty: not recorded
  std::string program, command;
  std::vector<ManifestFile> files;
  /// False for version 1, which lists no tensors: its only file has every
  /// tensor in one piece.
  bool listsTensors = true;
  std::vector<ManifestTensor> tensors;
};

/// Name of a rank's file of pieces: "state-3.safetensors".
std::string pieceFileName(uint32_t rank);

/// Whether `name` is pieceFileName of some rank.
bool isPieceFileName(const std::string &name);

/// The only file of tensors in version 1.
constexpr const char *kWholeStateFile = "state.safetensors";

/// The manifest as text, in version 2.
std::string manifestText(const Manifest &manifest);

/// Reads versions 1 and 2. A DPC_INVALID message begins with `path`. Every
/// piece of the result refers to a listed file, and a tensor has at most one
/// piece per file. TensorFiles checks that the pieces make up the tensors.
dpc_status_t parseManifest(const char *text, size_t bytes, const std::string &path, Manifest *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_MANIFEST_H
