#ifndef DPC_DIALECTS_NN_IR_RANDOM_H
#define DPC_DIALECTS_NN_IR_RANDOM_H

#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Random.h.inc"

#endif // DPC_DIALECTS_NN_IR_RANDOM_H
