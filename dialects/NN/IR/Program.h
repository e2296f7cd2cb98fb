#ifndef DPC_DIALECTS_NN_IR_PROGRAM_H
#define DPC_DIALECTS_NN_IR_PROGRAM_H

#include "dialects/Interfaces/FusableOpInterface.h"
#include "dialects/NN/IR/NNDialect.h"

#define GET_OP_CLASSES
#include "dialects/NN/IR/Program.h.inc"

#endif // DPC_DIALECTS_NN_IR_PROGRAM_H
