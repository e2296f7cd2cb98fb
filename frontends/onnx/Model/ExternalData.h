// Maps files with weights that are stored beside the model.

#ifndef DPC_FRONTENDS_ONNX_MODEL_EXTERNALDATA_H
#define DPC_FRONTENDS_ONNX_MODEL_EXTERNALDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <string>

namespace dpc::onnxpb {
class TensorProto;
}

namespace dpc::onnx {

/// A file mapped read-only for as long as the object lives.
class MappedFile {
public:
  /// Maps the regular file open at `descriptor`, which the caller still owns.
  /// `what` names the file in errors.
  static llvm::Expected<std::shared_ptr<const MappedFile>> map(int descriptor,
                                                               llvm::StringRef what);
  /// Opens and maps `path`, the model file itself. Symbolic links are followed,
  /// because the user gave the path.
  static llvm::Expected<std::shared_ptr<const MappedFile>> open(llvm::StringRef path);
  /// `size` zero bytes, which take no memory until they are read.
  static llvm::Expected<std::shared_ptr<const MappedFile>> zeros(size_t size, llvm::StringRef what);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  llvm::ArrayRef<char> bytes() const { return {data, size}; }

private:
  MappedFile(const char *data, size_t size) : data(data), size(size) {}
  const char *data;
  size_t size;
};

/// The external files of a model's tensors, each opened once.
///
/// A model may come from an untrusted source. So a location must name a regular file
/// below the model's folder. Not allowed are absolute paths, drive letters, backslashes,
/// components that are empty or `..`, symbolic links in any component, files with several
/// hard links, and files of /proc and /sys. Linux resolves the path (openat2
/// RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, else O_NOFOLLOW for each component). The file
/// is checked after it is open, and is never opened by name again, so that no other
/// program can replace it between the check and the use.
class ExternalFiles {
public:
  /// `folder`: the folder of the model.
  explicit ExternalFiles(std::string folder) : folder(std::move(folder)) {}

  struct Range {
    std::shared_ptr<const MappedFile> file;
    llvm::ArrayRef<char> bytes;
    /// True if the file does not exist; `bytes` are then zeros.
    bool isMissing = false;
  };
  /// After this call, reading a file that does not exist gives zeros instead of an error.
  void allowMissing() { allowsMissing = true; }
  /// The `expectedBytes` bytes that `proto`'s external_data names. `what` names
  /// the tensor in errors.
  llvm::Expected<Range> read(const onnxpb::TensorProto &proto, uint64_t expectedBytes,
                             llvm::StringRef what);

private:
  /// Null if the file does not exist and missing files are allowed.
  llvm::Expected<std::shared_ptr<const MappedFile>> openFile(llvm::StringRef location,
                                                             llvm::StringRef what);

  std::string folder;
  bool allowsMissing = false;
  std::map<std::string, std::shared_ptr<const MappedFile>> opened;
  std::map<std::string, std::string> digests;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_EXTERNALDATA_H
