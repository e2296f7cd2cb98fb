#ifndef DPC_RUNTIME_SRC_SESSION_STATESOURCES_H
#define DPC_RUNTIME_SRC_SESSION_STATESOURCES_H

#include "dpc/program.h"
#include "runtime/src/pieces/TensorFiles.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// Whether a state belongs to the model: whether it is a parameter or a buffer.
bool isOfModel(const dpc_state_t &state);

/// The name of a state in files of parameters. If the program has the rows of the
/// state in another order than the PyTorch module, the name ends in "/rows". Then no
/// program and no module loads rows in the wrong order by mistake.
std::string nameInFiles(const dpc_state_t &state);

/// The tensors of a file of weights, keyed by their names in the file after the changes
/// that a ParameterSpec requests. States are looked up under these names.
using TensorsByName = std::map<std::string, const FileTensor *>;

/// The tensor from which a state is read.
struct StateSource {
  const FileTensor *tensor = nullptr; ///< null: the file does not have the state
  /// The strides that place the state's elements in the tensor; null: the tensor
  /// has the elements in the order of the state.
  const dpc_file_tensor_t *view = nullptr;
};

/// Finds, for each state of a program, the tensor of a file from which the state
/// is read. A file uses either the names of the program or the names of its ONNX
/// file; programs compiled with --as-exported write the names of the ONNX file. A file
/// with the names of the ONNX file has every tensor that import replaced, and no name
/// that only the program has. A tied parameter may have any of its names in a file.
class StateSources {
public:
  StateSources(const dpc_program_t &program, const TensorsByName &tensors);

  const StateSource &operator[](uint32_t state) const { return found[state]; }
  /// Whether the file has the names of the ONNX file.
  bool hasFileNames() const { return exported; }
  /// Whether the file lacks the state for a known reason: the file has the names
  /// of the ONNX file, and the exporter dropped the state because it was zero.
  bool isDropped(uint32_t state) const;
  /// Whether the file's tensor `name` belongs to a state of the program.
  bool isUsed(const std::string &name) const { return used.count(name) != 0; }
  /// One note for each state that the file contains twice with different values,
  /// for example a tied weight whose two copies were trained separately.
  const std::vector<std::string> &getNotes() const { return notes; }

private:
  bool decideNames() const;
  void findUnderOwnNames(uint32_t state);
  void findUnderFileNames(uint32_t state);
  /// Adds a source of a state. The state is read from the first source. If a later
  /// source has other elements, adds a note.
  void take(uint32_t state, const StateSource &other);
  const dpc_state_t &parameterOf(const dpc_state_t &state) const;

  const dpc_program_t &program;
  const TensorsByName &tensors;
  bool exported;
  std::vector<StateSource> found;
  std::map<std::string, bool> used;
  std::vector<std::string> notes;
};

/// How closely a source must agree with a state.
enum class Likeness {
  elements, ///< equal shapes except for extents of 1, which do not change the elements' order
  shape,
  type ///< equal shapes and types
};

/// Returns DPC_INVALID if the source does not agree with the state as closely as
/// `likeness` requires. The message names the state or the tensor of the file, and both
/// shapes or types.
dpc_status_t checkSource(const dpc_state_t &state, const StateSource &source, Likeness likeness);

/// Reads elements [begin, begin + count) of the state from its source to `to`. The
/// elements have the order of the state and the type of the source.
void readSource(const dpc_state_t &state, const StateSource &source, uint64_t begin, uint64_t count,
                char *to);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_STATESOURCES_H
