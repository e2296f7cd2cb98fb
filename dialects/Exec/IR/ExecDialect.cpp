// Registers the `exec` dialect with its attributes, types and ops. Verifies the
// attributes, and traces buffers through views to their roots.

#include "dialects/Exec/IR/ExecDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

#include "dialects/Exec/IR/ExecEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/IR/ExecAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/IR/ExecTypes.cpp.inc"

#include "dialects/Exec/IR/ExecDialect.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Exec/IR/ExecAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Exec/IR/ExecTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Exec/IR/ExecOps.cpp.inc"
      >();
}

/// The most shared memory that a block has on any device (sm_90).
static const int64_t kMostSharedBytes = 227 << 10;

LogicalResult GridAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef entry,
                               int64_t blocks, int64_t threads, DenseI64ArrayAttr buffers, CallAttr,
                               bool, int64_t shared) {
  if (blocks < 1 || blocks > INT32_MAX || threads < 1 || threads > 1024)
    return emitError() << "a grid of " << blocks << " blocks of " << threads
                       << " threads is none that a device runs";
  if (shared < 0 || shared > kMostSharedBytes)
    return emitError() << "a grid has " << shared << " bytes of shared memory per block";
  for (int64_t buffer : buffers.asArrayRef())
    if (buffer < 0)
      return emitError() << "a grid has no buffer " << buffer;
  return success();
}

MemRefType dpc::exec::bufferOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

RankedTensorType dpc::exec::tensorOf(Type buffer) {
  auto type = cast<MemRefType>(buffer);
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

int64_t dpc::exec::bufferBytes(Type buffer) { return tensorBytes(tensorOf(buffer)); }

int64_t dpc::exec::elementBytes(Type type) {
  return tensorBytes(RankedTensorType::get({1}, cast<ShapedType>(type).getElementType()));
}

Place dpc::exec::placeOf(Value buffer, SymbolTableCollection &symbols) {
  return placeOf(buffer, [&](GetOp get) {
    return symbols.lookupNearestSymbolFrom<PersistentOp>(get, get.getPersistentAttr());
  });
}

Place dpc::exec::placeOf(Value buffer, llvm::function_ref<PersistentOp(GetOp)> find) {
  Place place;
  for (place.root = buffer.getDefiningOp(); place.root;) {
    if (auto view = dyn_cast<ViewOp>(place.root)) {
      place.offset += view.getOffset();
      if (view.getAxes()) {
        place.shardStride += view.getStride();
        place.shardAxes = view.getAxesAttr();
      } else {
        place.stride += view.getStride();
      }
      place.root = view.getSource().getDefiningOp();
      continue;
    }
    if (auto get = dyn_cast<GetOp>(place.root))
      place.root = find(get);
    break;
  }
  return place;
}
