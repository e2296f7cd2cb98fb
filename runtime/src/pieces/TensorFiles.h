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

/// Elements of a tensor in a mapped file, in the order of `segments`.
struct TensorPiece {
  const char *data;
  std::vector<Segments> segments;
};

/// A tensor as files have it: in one piece or several, which have each element
/// once.
struct FileTensor {
  explicit FileTensor(const dpc_array_t &whole);
  FileTensor(const dpc_array_t &like, std::vector<TensorPiece> pieces)
      : array(like), pieces(std::move(pieces)) {}

  uint64_t elements() const { return dpc_array_elements(&array); }
  /// Copies elements [begin, begin + count), of the tensor's type.
  void read(uint64_t begin, uint64_t count, char *to) const;

  dpc_array_t array; ///< name, type and shape; `data` is not to be used
  std::vector<TensorPiece> pieces;
  const TensorFiles *files = nullptr; ///< which forget what was read; may be null
};

/// The tensors of a safetensors file, of the shards of one, or of a checkpoint's
/// folder. Of what is
/// read at most some MiB stay in memory.
class TensorFiles {
public:
  ~TensorFiles();
  TensorFiles() = default;
  TensorFiles(const TensorFiles &) = delete;
  TensorFiles &operator=(const TensorFiles &) = delete;

  /// A safetensors file, the folder of one checkpoint (directory/step-N), or a
  /// model of Hugging Face: its folder, or the index of its shards.
  dpc_status_t openPath(const std::string &path);
  /// DPC_INVALID, with the file or tensor, when the files are not what the
  /// manifest says, or a tensor's pieces lack an element or have one twice.
  /// Checksums are StepFolder::checkFile's.
  dpc_status_t openFolder(const StepFolder &folder, const Manifest &manifest);
  /// What was opened is the folder of a checkpoint.
  bool isCheckpoint() const { return ofCheckpoint; }
  const std::deque<FileTensor> &all() const { return tensors; }
  /// Tells that so many bytes of the files came into memory.
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
