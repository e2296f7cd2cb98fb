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
  uint32_t crc = 0; ///< CRC-32 of all of them
};

/// A part of a tensor: in the file, under the tensor's name, its elements in
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

/// What manifest.json says of the files beside it.
struct Manifest {
  uint64_t step = 0, seed = 0;
  uint64_t batch = 0; ///< samples of a step; 0: it does not say
  std::string order;  ///< of the samples (CheckpointRun); empty: it does not say
  /// The last step of the run, where its learning rates depend on that; else 0.
  uint64_t scheduleTotal = 0;
  std::string run; ///< of the run that wrote it; empty: it does not say
  std::string program, command;
  std::vector<ManifestFile> files;
  /// Version 1 lists none: its one file has every tensor whole.
  bool listsTensors = true;
  std::vector<ManifestTensor> tensors;
};

/// "state-3.safetensors"
std::string pieceFileName(uint32_t rank);

/// Whether a name is pieceFileName of some rank.
bool isPieceFileName(const std::string &name);

/// The one file of version 1.
constexpr const char *kWholeStateFile = "state.safetensors";

/// Version 2.
std::string manifestText(const Manifest &manifest);

/// Reads versions 1 and 2; DPC_INVALID begins with `path`. The pieces' files
/// are in the list, each at most once for a tensor; whether they make up the
/// tensors is TensorFiles' to check.
dpc_status_t parseManifest(const char *text, size_t bytes, const std::string &path, Manifest *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_MANIFEST_H
