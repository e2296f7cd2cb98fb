#ifndef DPC_RUNTIME_SRC_SESSION_SHAREDFILES_H
#define DPC_RUNTIME_SRC_SESSION_SHAREDFILES_H

#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// Collective. Checks that each host has the same files as the host of rank 0. `paths` are the
/// files that this rank reads, in an order that is equal on all ranks. Their folders may differ
/// between hosts, but not their names. A file must have the same size, and the same bytes in a
/// sample (FileFacts.h) of at most about 16 MiB for all files together. It is no failure if no host
/// has a file.
///
/// One rank per host looks at the files, and a run on one host does not look at all. Returns
/// DPC_IO if a host lacks a file or cannot read it, and DPC_INVALID if a file is another one. The
/// message names the host and the file.
dpc_status_t checkSameFiles(dpc_session &session, const std::vector<std::string> &paths);

/// Collective. Checks that all hosts see one folder under the path `folder`, in which their ranks
/// can write. Rank 0 makes a file in it, or in the folder above it if `folder` does not exist yet,
/// and the other hosts look for it. `option` begins the messages. Removes the file in all cases.
/// Returns DPC_IO, with a message that names the host, if a host does not see the file, or cannot
/// write there. A run on one host does not look at all.
dpc_status_t checkSharedFolder(dpc_session &session, const std::string &option,
                               const std::string &folder);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_SHAREDFILES_H
