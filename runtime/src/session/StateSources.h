#ifndef DPC_RUNTIME_SRC_SESSION_STATESOURCES_H
#define DPC_RUNTIME_SRC_SESSION_STATESOURCES_H

#include "dpc/program.h"
#include "runtime/src/pieces/TensorFiles.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// Whether a state belongs to the model's weights: a parameter or buffer.
bool isOfModel(const dpc_state_t &state);

/// The name of a state in files of parameters. A state whose rows are in
/// another order than the module's has a special name there, so that neither a
/// program nor the module loads the other's order by mistake.
std::string nameInFiles(const dpc_state_t &state);

/// The tensors of a file, keyed by the names that they have for the program.
using TensorsByName = std::map<std::string, const FileTensor *>;

/// The tensor from which a state is read.
struct StateSource {
  const FileTensor *tensor = nullptr; ///< null: the file does not have the state
  /// Where the state's elements are in the tensor; null: the tensor is the
  /// state itself.
  const dpc_file_tensor_t *view = nullptr;
};

/// Finds, for each state of a program, the tensor of a file from which it is
/// read. A file has either the program's names, or those of its ONNX file, as
/// files of programs compiled with --as-exported have. In the latter case it
/// contains every tensor of the ONNX file that import replaced, and no name
/// that only the program has. A tied parameter may have any of its names.
class StateSources {
public:
  StateSources(const dpc_program_t &program, const TensorsByName &tensors);

  const StateSource &operator[](uint32_t state) const { return found[state]; }
  /// Whether the file has the names of the ONNX file.
  bool hasFileNames() const { return exported; }
  /// Whether the ONNX file lacks the state, because the state was zero. Then a
  /// parameter file with the ONNX file's names lacks it too.
  bool isDropped(uint32_t state) const;
  /// Whether the tensor is read as a state or as part of one.
  bool isUsed(const std::string &name) const { return used.count(name) != 0; }
  /// A note for each state that the file contains twice with different values,
  /// such as tied weights that were trained separately.
  const std::vector<std::string> &getNotes() const { return notes; }

private:
  bool decideNames() const;
  void findUnderOwnNames(uint32_t state);
  void findUnderFileNames(uint32_t state);
  /// Adds a source of a state. The state is read from the first source; a note
  /// says if a later one differs.
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
  elements, ///< equal shapes up to extents of 1, so the same elements in the same order
  shape,
  type ///< equal shapes and types
};

/// DPC_INVALID, with a message that names the state and both shapes or types,
/// if the source does not agree with the state as `likeness` says.
dpc_status_t checkSource(const dpc_state_t &state, const StateSource &source, Likeness likeness);

/// Copies elements [begin, begin + count) of the state, in the state's order,
/// in the source's type.
void readSource(const dpc_state_t &state, const StateSource &source, uint64_t begin, uint64_t count,
                char *to);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_STATESOURCES_H
