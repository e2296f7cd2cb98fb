#ifndef DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H
#define DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H

#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// A file of parameters, and what of it is meant: the value of --init-params.
struct ParameterSource {
  std::string path;
  /// Globs of the program's names: only these are loaded, but not those. No
  /// `only`: all.
  std::vector<std::string> only, except;
  /// What the file's names begin with and the program's do not, and the other
  /// way round.
  std::string strip, add;
  /// What the file lacks keeps its value.
  bool isPartial = false;
};

/// FILE[,only=GLOB..][,except=GLOB..][,strip=PREFIX][,add=PREFIX][,partial].
/// DPC_USAGE names the part that is none of these.
dpc_status_t parseParameterSource(const std::string &text, ParameterSource *out);

/// Sets parameters (frozen ones too) and buffers from a safetensors file.
/// DPC_INVALID for a parameter or running statistic that is
/// asked for and not in the file, for another shape, for a constant of the
/// program that has another value in the file, and for globs and prefixes that
/// mean nothing. `notes` gets one line for each way in which tensors of the
/// file or the program were left out.
dpc_status_t loadParameters(dpc_session &session, const ParameterSource &source,
                            std::vector<std::string> *notes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H
