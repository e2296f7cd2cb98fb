#ifndef DPC_DIALECTS_NN_IR_REDUCTION_H
#define DPC_DIALECTS_NN_IR_REDUCTION_H

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Reduction.h.inc"

#endif // DPC_DIALECTS_NN_IR_REDUCTION_H
