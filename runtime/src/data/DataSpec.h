#ifndef DPC_RUNTIME_SRC_DATA_DATASPEC_H
#define DPC_RUNTIME_SRC_DATA_DATASPEC_H

#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// How the files of a value of --data are read.
enum class DataForm { npz, npy, idx, tokens };

/// One value of --data or --eval-data, with its file names expanded.
struct DataSpec {
  DataForm form = DataForm::npz;
  std::string text; ///< as it was given
  std::string name; ///< npy: the input
  /// In the order in which they are read. Of idx: each with the images' file and
  /// the labels' file; else each with one.
  std::vector<std::vector<std::string>> files;
  std::vector<std::string> settings; ///< "scale=1/255", of idx and tokens
};

/// Parses FILE.npz, NAME=FILE.npy, idx:IMAGES,LABELS[,SETTING..] or
/// tokens:FILE[,SETTING..]. A name with `*`, `?` or `[` stands for all files that
/// match it, in the order of their names' bytes, unless a file is called so.
/// DPC_USAGE for a malformed value, DPC_IO if nothing matches.
dpc_status_t parseDataSpec(const std::string &text, DataSpec *out);

/// The files that a value names, whether or not they are there; none where it is
/// malformed.
std::vector<std::string> filesOfData(const std::string &text);

/// The parts of `text` between commas.
std::vector<std::string> splitAtCommas(const std::string &text);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_DATASPEC_H
