#ifndef DPC_RUNTIME_SRC_DATA_DATASET_H
#define DPC_RUNTIME_SRC_DATA_DATASET_H

#include "runtime/src/data/DataSpec.h"
#include "runtime/src/data/InputLoader.h"
#include "runtime/src/data/MemoryMaker.h"

#include <memory>
#include <string>
#include <vector>

namespace dpc {

/// Position `index` of the permutation of [0, count) that `key` names: a
/// 4-round Feistel network on the next even number of bits, walked until it
/// lands inside (cycle walking). Nothing is stored, so any step can be resumed.
uint64_t permuted(uint64_t index, uint64_t count, uint64_t key);

/// The data of --data or --eval-data: files opened and bound to the program's
/// inputs.
class Dataset {
public:
  /// Collective where `maker` shares. Opens the files of the specifications
  /// (parseDataSpec), which all have one form; their samples follow each other in
  /// that order, of npy for each input. DPC_USAGE for a malformed specification,
  /// DPC_INVALID when data does not fit the program.
  dpc_status_t open(const dpc_program_t &program, uint32_t rank,
                    const std::vector<std::string> &specs, MemoryMaker &maker);

  /// Samples of all files.
  uint64_t rows() const { return sampleCount; }
  /// The files, for messages.
  std::string source() const;
  /// DPC_INVALID for the first value that is outside its input's range, of the
  /// inputs that have one and whose values are few enough to be read at once;
  /// what is not looked at here is checked as it is loaded.
  dpc_status_t checkValues() const;
  /// Names of arrays that no input of the program takes.
  const std::vector<std::string> &unusedArrays() const { return unused; }
  /// The loader that the files are bound to, for settleLayouts; null before they are opened.
  InputLoader *loader() const { return bindings.get(); }
  /// What may be meant otherwise, a line each: bytes that go into floats as they are.
  std::vector<std::string> notes() const;
  /// Makes `loader` read from this data.
  void activate(InputLoader &loader) const;
  /// Fills the loader's rows with batch `index` of an epoch, in file order or
  /// shuffled by `key`; rows past the end repeat row 0 (they are masked).
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
