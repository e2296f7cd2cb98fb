#ifndef DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H
#define DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H

#include "dpc/program.h"

#include <string>

namespace dpc {

/// A note on ranks that get no sample of a batch. If all get samples, but none
/// more than one, a note on ranks that hold the same samples and parameters as
/// another rank. Empty if there are no such ranks.
std::string sampleDivisionNote(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H
