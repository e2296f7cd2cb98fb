#ifndef DPC_RUNTIME_SRC_DATA_DATASET_H
#define DPC_RUNTIME_SRC_DATA_DATASET_H

#include "runtime/src/data/DataSpec.h"
#include "runtime/src/data/InputLoader.h"
#include "runtime/src/data/MemoryMaker.h"

#include <memory>
#include <string>
#include <vector>

namespace dpc {

/// The number at position `index` of the permutation of [0, count) that `key`
/// selects. A Feistel network of 4 rounds permutes the numbers of 2 k bits, where k
/// is the smallest number >= 1 with 4^k >= count. The network is applied repeatedly
/// until the result is below count (cycle walking). The permutation is computed and
/// not stored, so a run can resume at any step.
uint64_t permuted(uint64_t index, uint64_t count, uint64_t key);

/// The data of --data or --eval-data: the opened files and their bindings to
/// the program's inputs.
class Dataset {
public:
  /// Opens the files of the specifications `specs` (see parseDataSpec), which must
  /// all have one format. The samples of a file follow the samples of the previous
  /// file. An npy file has samples of one input, so each input has its own sequence
  /// of npy files. The call is collective if `maker` fills memory for all ranks
  /// (RankZeroMemory). Returns DPC_USAGE for a malformed specification, and
  /// DPC_INVALID if data does not fit the program.
  dpc_status_t open(const dpc_program_t &program, uint32_t rank,
                    const std::vector<std::string> &specs, MemoryMaker &maker);

  /// The files that open() reads for these specifications, in the same order. A file need
  /// not exist.
  static std::vector<std::string> filesOf(const dpc_program_t &program,
                                          const std::vector<std::string> &specs);

  /// Number of samples in all files together.
  uint64_t rows() const { return sampleCount; }
  /// The names of the files, for messages.
  std::string source() const;
  /// Checks the values of inputs that have bounds, before the first step. Returns
  /// DPC_INVALID for the first value that is out of bounds. Skips an input with more
  /// than 1 GiB of data; its values are checked when they are loaded.
  dpc_status_t checkValues() const;
  /// Names of the arrays that the files have but no input of the program uses.
  const std::vector<std::string> &unusedArrays() const { return unused; }
  /// The loader to which the files are bound, for settleLayouts. Null before
  /// open().
  InputLoader *loader() const { return bindings.get(); }
  /// Notes to the user on data that could be meant in another way. There are two
  /// kinds: samples could lie along either of two dimensions, and bytes are read
  /// into floats without scaling.
  std::vector<std::string> notes() const;
  /// Makes `loader` read from this dataset.
  void activate(InputLoader &loader) const;
  /// Selects the samples of batch `index` of an epoch as the loader's rows. Samples
  /// are in file order, or shuffled by `key`. If the last batch has too few samples,
  /// its other rows repeat sample 0, and the program must mask these rows.
  void select(InputLoader &loader, uint64_t index, bool shuffle, uint64_t key) const;

private:
  dpc_status_t openNpz(const std::string &path);
  dpc_status_t openNpy(const std::string &name, const std::string &path);
  dpc_status_t openIdx(const DataSpec &spec, const std::string &images, const std::string &labels);
  dpc_status_t openTokens(const DataSpec &spec, const std::string &path);
  dpc_status_t openFiles(const DataSpec &spec);
  dpc_status_t checkLastFile() const;
  dpc_status_t countRows();
  void findUnused();
  dpc_status_t lacks(const std::string &source, uint32_t input) const;

  using File = std::unique_ptr<dpc_array_file_t, void (*)(dpc_array_file_t *)>;
  const dpc_program_t *program = nullptr;
  MemoryMaker *maker = nullptr;
  std::unique_ptr<InputLoader> bindings;
  std::vector<File> files;
  std::string firstFile;
  std::vector<std::string> unused;
  uint64_t sampleCount = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_DATASET_H
