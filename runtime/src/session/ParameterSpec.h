#ifndef DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H
#define DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// A file of parameters, and what of it is meant: the value of --init-params or
/// --save-params.
struct ParameterSpec {
  std::string path;
  /// Globs of the program's names: only these, but not those. No `only`: all.
  std::vector<std::string> only, except;
  /// What a name loses at its beginning, and what it then gets there: on the way
  /// from the file to the program, or from the program to the file.
  std::string strip, add;
  /// What the file lacks keeps its value. For loading.
  bool isPartial = false;
};

/// FILE[,only=GLOB..][,except=GLOB..][,strip=PREFIX][,add=PREFIX], and for
/// --init-params also [,partial]. FILE may have commas before `.safetensors`.
/// DPC_USAGE names the part that is none of these, or a setting that is there twice
/// where one is meant.
dpc_status_t parseParameterSpec(const char *option, const std::string &text, ParameterSpec *out);

/// Whether a glob means the state: by its name, or by another one that the module
/// or the ONNX file alone has for it.
bool matchesState(const dpc_program_t &program, const std::string &glob, const dpc_state_t &state);

/// Takes the prefixes away from, and puts them before, one name after the other.
class Renaming {
public:
  explicit Renaming(const ParameterSpec &spec) : spec(spec) {}
  std::string apply(const std::string &name);
  /// DPC_INVALID where no name began with what is to be stripped.
  dpc_status_t finish() const;

private:
  const ParameterSpec &spec;
  bool anyStripped = false;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_PARAMETERSPEC_H
