#ifndef DPC_DIALECTS_NN_IR_SHAPE_H
#define DPC_DIALECTS_NN_IR_SHAPE_H

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Shape.h.inc"

#endif // DPC_DIALECTS_NN_IR_SHAPE_H
