#ifndef DPC_DIALECTS_NN_IR_CONTRACTION_H
#define DPC_DIALECTS_NN_IR_CONTRACTION_H

#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Contraction.h.inc"

#endif // DPC_DIALECTS_NN_IR_CONTRACTION_H
