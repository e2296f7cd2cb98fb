#ifndef DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
#define DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H

#include "dpc/status.h"

#include <string>

namespace dpc {

/// DPC_USAGE for an option that produced programs do not have. The message says where an
/// option of dpc-compile belongs, and what a program has in place of those that other
/// training programs have.
dpc_status_t refuseUnknown(const std::string &name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
