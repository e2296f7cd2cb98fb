#ifndef DPC_DIALECTS_NN_IR_ATTENTION_H
#define DPC_DIALECTS_NN_IR_ATTENTION_H

#include "dialects/NN/IR/AttentionShape.h"
#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Attention.h.inc"

#endif // DPC_DIALECTS_NN_IR_ATTENTION_H
