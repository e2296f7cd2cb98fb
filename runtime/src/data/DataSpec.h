#ifndef DPC_RUNTIME_SRC_DATA_DATASPEC_H
#define DPC_RUNTIME_SRC_DATA_DATASPEC_H

#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// Formats of the files that a value of --data names.
enum class DataForm { npz, npy, idx, tokens };

/// One value of --data or --eval-data, with its file names expanded.
struct DataSpec {
  DataForm form = DataForm::npz;
  std::string text; ///< the value as the user gave it
  std::string name; ///< npy: name of the input
  /// The files in the order in which they are read. An element of this list is a
  /// single file, or for idx a file of images and its file of labels.
  std::vector<std::vector<std::string>> files;
  std::vector<std::string> settings; ///< idx, tokens: the settings, e.g. "scale=1/255"
};

/// Parses FILE.npz, NAME=FILE.npy, idx:IMAGES,LABELS[,SETTING..] or
/// tokens:FILE[,SETTING..]. A name with `*`, `?` or `[` stands for all files that
/// match it, sorted bytewise by name, unless a file has exactly this name. Returns
/// DPC_USAGE for a malformed value, DPC_IO if no file matches a pattern, and
/// DPC_INVALID if two idx patterns match different numbers of files.
dpc_status_t parseDataSpec(const std::string &text, DataSpec *out);

/// The files that a value of --data names. A file need not exist. Empty if
/// parseDataSpec fails.
std::vector<std::string> filesOfData(const std::string &text);

/// Splits `text` at commas.
std::vector<std::string> splitAtCommas(const std::string &text);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_DATASPEC_H
