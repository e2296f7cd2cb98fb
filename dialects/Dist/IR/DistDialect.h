#ifndef DPC_DIALECTS_DIST_IR_DISTDIALECT_H
#define DPC_DIALECTS_DIST_IR_DISTDIALECT_H

#include "dialects/Dist/IR/DistEnums.h"
#include "dialects/Dist/IR/Layout.h"
#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dpc {
struct ProgramPlan; // planning/Plan.h
} // namespace dpc

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/IR/DistAttrs.h.inc"

#include "dialects/Dist/IR/DistDialect.h.inc"

#endif // DPC_DIALECTS_DIST_IR_DISTDIALECT_H
