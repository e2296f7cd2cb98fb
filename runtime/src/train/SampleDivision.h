#ifndef DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H
#define DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H

#include "dpc/program.h"

#include <string>

namespace dpc {

/// Tells of ranks that get no sample of a batch or, where no rank gets more than one, of
/// those that hold what another does. Empty: there are none.
std::string sampleDivisionNote(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H
