#ifndef DPC_RUNTIME_SRC_COMM_GLOO_LIBRARY_H
#define DPC_RUNTIME_SRC_COMM_GLOO_LIBRARY_H

#include "dpc/status.h"
#include "runtime/src/comm/gloo/Table.h"

namespace dpc::gloo {

/// Opens libdpc_gloo.so: the file DPC_GLOO_LIBRARY, or the first one that lies beside this program
/// or beside the dpc-run that has started it (in that folder, or in lib/ next to it). The library
/// stays open until the process ends. Returns DPC_INVALID, with a message of one line, if there is
/// none, or if it belongs to another version of dpc.
dpc_status_t openLibrary(const Table **out);

} // namespace dpc::gloo

#endif // DPC_RUNTIME_SRC_COMM_GLOO_LIBRARY_H
