#ifndef DPC_DIALECTS_DIST_IR_COLLECTIVES_H
#define DPC_DIALECTS_DIST_IR_COLLECTIVES_H

#include "dialects/Dist/IR/DistDialect.h"

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Collectives.h.inc"

#endif // DPC_DIALECTS_DIST_IR_COLLECTIVES_H
