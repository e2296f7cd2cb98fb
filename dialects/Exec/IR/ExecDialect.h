#ifndef DPC_DIALECTS_EXEC_IR_EXECDIALECT_H
#define DPC_DIALECTS_EXEC_IR_EXECDIALECT_H

#include "dialects/Dist/IR/DistEnums.h"
#include "dialects/Exec/IR/CallBuffer.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include "dialects/Exec/IR/ExecEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/IR/ExecAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/IR/ExecTypes.h.inc"

#include "dialects/Exec/IR/ExecDialect.h.inc"

// ExecOps.h and this header need each other's declarations, so each includes the
// other.
#include "dialects/Exec/IR/ExecOps.h" // IWYU pragma: export

#endif // DPC_DIALECTS_EXEC_IR_EXECDIALECT_H
