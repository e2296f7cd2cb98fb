#ifndef DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H
#define DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// A file of parameters and the part of it to load or save: the value of
/// --init-params or --save-params.
struct ParameterSpec {
  std::string path;
  /// Globs of the program's names: loads or saves the names that match `only`
  /// (empty: all) and do not match `except`.
  std::vector<std::string> only, except;
  /// The prefix that a name loses, and the prefix that it gets afterwards. For
  /// loading, this converts names in the file to names of the program; for
  /// saving, it converts names of the program to names in the file.
  std::string strip, add;
  /// For loading: states that are missing in the file keep their values.
  bool isPartial = false;
};

/// Parses FILE[,only=GLOB..][,except=GLOB..][,strip=PREFIX][,add=PREFIX], and
/// for --init-params also [,partial]. FILE may contain commas before
/// `.safetensors`. DPC_USAGE, with a message that names the part, for an
/// unknown setting, or for a setting that is given twice although only one is
/// permitted.
dpc_status_t parseParameterSpec(const char *option, const std::string &text, ParameterSpec *out);

/// Whether a glob matches a state, by its name or by another name that only the
/// module or the ONNX file has for it.
bool matchesState(const dpc_program_t &program, const std::string &glob, const dpc_state_t &state);

/// Converts names, one at a time: strips one prefix and adds another.
class Renaming {
public:
  explicit Renaming(const ParameterSpec &spec) : spec(spec) {}
  std::string apply(const std::string &name);
  /// DPC_INVALID if no name began with the prefix to strip.
  dpc_status_t finish() const;

private:
  const ParameterSpec &spec;
  bool anyStripped = false;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H
