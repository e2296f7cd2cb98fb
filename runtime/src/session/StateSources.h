#ifndef DPC_RUNTIME_SRC_SESSION_STATESOURCES_H
#define DPC_RUNTIME_SRC_SESSION_STATESOURCES_H

#include "dpc/program.h"
#include "runtime/src/pieces/TensorFiles.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// What a model's file of weights holds: parameters and buffers.
bool isOfModel(const dpc_state_t &state);

/// The name of a state in files of parameters. One whose rows are in another order
/// than the module's has a name of its own there, so that neither takes it for
/// the other.
std::string nameInFiles(const dpc_state_t &state);

/// The tensors of a file by the names that they have for a program.
using TensorsByName = std::map<std::string, const FileTensor *>;

/// Where a state is read from.
struct StateSource {
  const FileTensor *tensor = nullptr; ///< null: the file has none
  /// How the state lies in it; null: as it is.
  const dpc_file_tensor_t *view = nullptr;
};

/// Which tensor of a file each state of a program is read from. A file has
/// either the program's names, or those of its ONNX file, as programs compiled
/// with --as-exported have them: then it holds every tensor of the ONNX file
/// that import put something else in place of, and nothing under a name that
/// only the program knows. Of tied parameters it may have any name.
class StateSources {
public:
  StateSources(const dpc_program_t &program, const TensorsByName &tensors);

  const StateSource &operator[](uint32_t state) const { return found[state]; }
  /// The file has the names of the ONNX file.
  bool hasFileNames() const { return exported; }
  /// The ONNX file has no such tensor, because the state was zero; so a file of
  /// parameters under its names has none either.
  bool isDropped(uint32_t state) const;
  /// Is read, as a state or as a part of one.
  bool isUsed(const std::string &name) const { return used.count(name) != 0; }
  /// One for each state that is twice in the file, with different values: tied
  /// weights that were trained apart.
  const std::vector<std::string> &getNotes() const { return notes; }

private:
  bool decideNames() const;
  void findUnderOwnNames(uint32_t state);
  void findUnderFileNames(uint32_t state);
  /// The state is read from the first that is taken; a note says where another
  /// one differs.
  void take(uint32_t state, const StateSource &other);
  const dpc_state_t &parameterOf(const dpc_state_t &state) const;

  const dpc_program_t &program;
  const TensorsByName &tensors;
  bool exported;
  std::vector<StateSource> found;
  std::map<std::string, bool> used;
  std::vector<std::string> notes;
};

/// How far a source has to be like a state.
enum class Likeness {
  elements, ///< the same shape but for extents of 1, so the same elements in order
  shape,
  type ///< and shape
};

/// DPC_INVALID, naming the state and both, where the source has not the shape or
/// type that the state is read from.
dpc_status_t checkSource(const dpc_state_t &state, const StateSource &source, Likeness likeness);

/// Elements [begin, begin + count) of the state, in its own order and of the
/// source's type.
void readSource(const dpc_state_t &state, const StateSource &source, uint64_t begin, uint64_t count,
                char *to);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_STATESOURCES_H
