#ifndef DPC_DIALECTS_NN_IR_INDEXING_H
#define DPC_DIALECTS_NN_IR_INDEXING_H

#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Indexing.h.inc"

#endif // DPC_DIALECTS_NN_IR_INDEXING_H
