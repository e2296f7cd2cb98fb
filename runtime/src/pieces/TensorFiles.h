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

/// The tensors of a safetensors file, or of a checkpoint's folder. Of what is
/// read at most some MiB stay in memory.
class TensorFiles {
public:
  ~TensorFiles();
  TensorFiles() = default;
  TensorFiles(const TensorFiles &) = delete;
  TensorFiles &operator=(const TensorFiles &) = delete;

  /// A safetensors file, or the folder of one checkpoint (directory/step-N).
  dpc_status_t openPath(const std::string &path);
  /// DPC_INVALID, with the file or tensor, when the files are not what the
  /// manifest says, or a tensor's pieces lack an element or have one twice.
  /// Checksums are StepFolder::checkFile's.
  dpc_status_t openFolder(const StepFolder &folder, const Manifest &manifest);
  const std::deque<FileTensor> &all() const { return tensors; }
  /// Tells that so many bytes of the files came into memory.
  void wasRead(uint64_t bytes) const;

private:
  dpc_status_t openPieces(const StepFolder &folder, const Manifest &manifest);
  void addWhole(const dpc_array_file_t &file);

  std::deque<dpc_array_file_t *> files;
  std::deque<std::string> names;
  std::deque<FileTensor> tensors;
  mutable uint64_t unforgotten = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_TENSORFILES_H
