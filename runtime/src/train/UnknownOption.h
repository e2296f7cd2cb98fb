#ifndef DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
#define DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H

#include "dpc/status.h"

#include <string>

namespace dpc {

/// Returns DPC_USAGE for an option that compiled programs do not have. Also returns it if
/// they have the option, but the user gave it a value that it does not take. The message
/// helps the user. It says that dpc-compile has the option, or names the corresponding
/// option (e.g. --lr for --learning-rate). For other names it suggests the option with
/// the most similar name, if there is a similar one.
dpc_status_t refuseUnknown(const std::string &name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
