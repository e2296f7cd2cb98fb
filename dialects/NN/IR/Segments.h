#ifndef DPC_DIALECTS_NN_IR_SEGMENTS_H
#define DPC_DIALECTS_NN_IR_SEGMENTS_H

#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Segments.h.inc"

#endif // DPC_DIALECTS_NN_IR_SEGMENTS_H
