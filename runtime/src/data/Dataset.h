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
/// selects. A Feistel network of 4 rounds permutes the numbers of 2 k bits, for the
/// smallest k >= 1 with 4^k >= count. The network is applied repeatedly until the
/// result is below count (cycle walking). Nothing is stored, so a run can resume at any
/// step.
uint64_t permuted(uint64_t index, uint64_t count, uint64_t key);

/// The data of --data or --eval-data: the opened files and their bindings to
/// the program's inputs.
class Dataset {
public:
  /// Opens the files of the specifications (parseDataSpec), which must all have
  /// one format. The samples of a file follow those of the file before it. An npy
  /// file has samples of one input, so each input has its own sequence of npy files.
  /// The call is collective if `maker` shares memory between ranks. Returns DPC_USAGE
  /// for a malformed specification, and DPC_INVALID if data does not fit the program.
  dpc_status_t open(const dpc_program_t &program, uint32_t rank,
                    const std::vector<std::string> &specs, MemoryMaker &maker);

  /// Number of samples in all files.
  uint64_t rows() const { return sampleCount; }
  /// The names of the files, for messages.
  std::string source() const;
  /// DPC_INVALID for the first value outside its input's range. Checks only
  /// inputs that have a range and whose data is small enough to be read at
  /// once. Other values are checked when they are loaded.
  dpc_status_t checkValues() const;
  /// Names of arrays that belong to no input of the program.
  const std::vector<std::string> &unusedArrays() const { return unused; }
  /// The loader to which the files are bound, for settleLayouts; null before
  /// open().
  InputLoader *loader() const { return bindings.get(); }
  /// Notes, one per element, on data that the user may have meant otherwise:
  /// samples that could lie along either of two dimensions, and bytes that are
  /// read into floats without scaling.
  std::vector<std::string> notes() const;
  /// Makes `loader` read from this dataset.
  void activate(InputLoader &loader) const;
  /// Sets the loader's rows to batch `index` of an epoch, in file order or
  /// shuffled by `key`. Rows past the end repeat row 0; they are masked.
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
