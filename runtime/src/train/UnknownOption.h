#ifndef DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
#define DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H

#include "dpc/status.h"

#include <string>

namespace dpc {

/// DPC_USAGE for an option that produced programs do not have, or have only
/// without a value. The message points to dpc-compile for its options, names
/// the equivalent of options that other training programs have, or suggests the
/// option with the most similar name.
dpc_status_t refuseUnknown(const std::string &name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_UNKNOWNOPTION_H
