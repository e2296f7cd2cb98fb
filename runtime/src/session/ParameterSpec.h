#ifndef DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H
#define DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// The value of --init-params or --save-params: a file of parameters, and which of
/// them to load or save.
struct ParameterSpec {
  std::string path;
  /// Globs for names of the program. A parameter is loaded or saved if its name
  /// matches a glob of `only` (or `only` is empty) and no glob of `except`.
  std::vector<std::string> only, except;
  /// Prefixes: a name first loses the prefix `strip`, then gets the prefix `add`.
  /// Loading converts names in the file to names of the program in this way;
  /// saving converts names of the program to names in the file.
  std::string strip, add;
  /// For loading: if a state is missing in the file, it keeps its value, and the
  /// load does not fail.
  bool isPartial = false;
};

/// Parses FILE[,only=GLOB..][,except=GLOB..][,strip=PREFIX][,add=PREFIX], and
/// for --init-params also [,partial]. FILE may contain commas before
/// `.safetensors`. Returns DPC_USAGE for an unknown setting, and for a prefix that
/// is given twice with different values. The message names the wrong part.
dpc_status_t parseParameterSpec(const char *option, const std::string &text, ParameterSpec *out);

/// Whether a glob matches a name of a state: its name in the program, or a name that
/// the state has only in the PyTorch module or in the ONNX file.
bool matchesState(const dpc_program_t &program, const std::string &glob, const dpc_state_t &state);

/// Converts names: removes one prefix from a name and adds another prefix.
class Renaming {
public:
  explicit Renaming(const ParameterSpec &spec) : spec(spec) {}
  std::string apply(const std::string &name);
  /// Called after the last name. Returns DPC_INVALID if no name began with the
  /// prefix to remove, because the user then probably misspelled it.
  dpc_status_t finish() const;

private:
  const ParameterSpec &spec;
  bool anyStripped = false;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H
