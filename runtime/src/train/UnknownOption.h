#ifndef DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
#define DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H

#include "dpc/status.h"

#include <string>

namespace dpc {

/// DPC_USAGE for an option that produced programs do not have, or have without a value. The
/// message says where an option of dpc-compile belongs, what a program has in place of those
/// that other training programs have, and which option has nearly the same name.
dpc_status_t refuseUnknown(const std::string &name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
