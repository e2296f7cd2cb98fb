#ifndef DPC_RUNTIME_SRC_PIECES_TENSORFILES_H
#define DPC_RUNTIME_SRC_PIECES_TENSORFILES_H

#include "dpc/data.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/pieces/Manifest.h"
#include "runtime/src/pieces/Segments.h"
#include "runtime/src/pieces/StepFolder.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace dpc {

class TensorFiles;

/// The elements of a tensor that one mapped file has, in the order of `segments`.
struct TensorPiece {
  const char *data;
  std::vector<Segments> segments;
};

/// A tensor that is stored in files. Its pieces together have each element exactly
/// once. A tensor without elements may have no piece.
struct FileTensor {
  explicit FileTensor(const dpc_array_t &whole);
  FileTensor(const dpc_array_t &like, std::vector<TensorPiece> pieces)
      : array(like), pieces(std::move(pieces)) {}

  uint64_t elements() const { return dpc_array_elements(&array); }
  /// Copies elements [begin, begin + count) to `to`, in the tensor's type.
  void read(uint64_t begin, uint64_t count, char *to) const;

  dpc_array_t array; ///< name, type and shape; `data` must not be used
  std::vector<TensorPiece> pieces;
  const TensorFiles *files = nullptr; ///< told about reads, so that it can free memory; may be null
};

/// The tensors of a safetensors file, of a model in several safetensors files, or of a
/// checkpoint. After reads, only a few MiB of the files stay in memory.
class TensorFiles {
public:
  ~TensorFiles();
  TensorFiles() = default;
  TensorFiles(const TensorFiles &) = delete;
  TensorFiles &operator=(const TensorFiles &) = delete;

  /// Opens a safetensors file, the folder of a checkpoint (directory/step-N), or a
  /// model of Hugging Face. For a model of Hugging Face, `path` is its folder or the
  /// index of its files.
  dpc_status_t openPath(const std::string &path);
  /// The files that openPath would read, as far as this can be told. A file need not exist.
  static std::vector<std::string> filesOfPath(const std::string &path);
  /// Opens the files of a checkpoint. Returns DPC_INVALID if the files differ from the
  /// manifest, or if the pieces of a tensor lack an element or have an element twice.
  /// The message names the file or the tensor. Does not check checksums;
  /// StepFolder::checkFile does that.
  dpc_status_t openFolder(const StepFolder &folder, const Manifest &manifest);
  /// Whether the path of openPath is the folder of a checkpoint.
  bool isCheckpoint() const { return ofCheckpoint; }
  const std::deque<FileTensor> &all() const { return tensors; }
  /// Records that a read has loaded `bytes` bytes of the files into memory. Frees the
  /// memory of all reads when they have loaded about 8 MiB.
  void wasRead(uint64_t bytes) const;

private:
  dpc_status_t openFile(const std::string &path);
  dpc_status_t openShards(const std::string &index);
  dpc_status_t openPieces(const StepFolder &folder, const Manifest &manifest);
  void addWhole(const dpc_array_file_t &file);

  std::deque<dpc_array_file_t *> files;
  std::deque<std::string> names;
  std::deque<FileTensor> tensors;
  bool ofCheckpoint = false;
  mutable uint64_t unforgotten = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_TENSORFILES_H
