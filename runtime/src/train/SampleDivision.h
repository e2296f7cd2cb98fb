#ifndef DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H
#define DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H

#include "dpc/program.h"

#include <string>

namespace dpc {

/// A note for the user if the batch is too small for the number of ranks. This is so if
/// some ranks get no sample of a batch. It is also so if no rank gets more than one
/// sample of a microbatch, and some ranks have the same samples and parameters as
/// another rank. Otherwise the result is empty.
std::string sampleDivisionNote(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_SAMPLEDIVISION_H
