#ifndef DPC_RUNTIME_SRC_BASE_TOKENFILE_H
#define DPC_RUNTIME_SRC_BASE_TOKENFILE_H

#include "dpc/status.h"

#include <string>

namespace dpc {

/// Reads the secret of a run from a file: its first 64 characters, hex digits. Returns
/// DPC_INVALID if the file belongs to another user, if others can read it, or if it is too
/// short, and DPC_IO if it cannot be read.
dpc_status_t readTokenFile(const std::string &path, std::string *out);

/// Reads the secret from the start of an open file, and closes the file, so that no child
/// process inherits it. `name` says in messages where the descriptor comes from.
dpc_status_t readTokenFrom(int fd, const char *name, std::string *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_TOKENFILE_H
