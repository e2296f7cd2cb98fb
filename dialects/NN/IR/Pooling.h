#ifndef DPC_DIALECTS_NN_IR_POOLING_H
#define DPC_DIALECTS_NN_IR_POOLING_H

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/Window.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Pooling.h.inc"

#endif // DPC_DIALECTS_NN_IR_POOLING_H
