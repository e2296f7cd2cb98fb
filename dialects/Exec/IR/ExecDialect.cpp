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

LogicalResult MatrixAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t buffer,
                                 int64_t offset, int64_t stride, int64_t batchStride, bool) {
  if (buffer < 0 || offset < 0 || stride < 0 || batchStride < 0)
    return emitError() << "a matrix lies " << offset << " bytes into buffer " << buffer
                       << ", with strides of " << stride << " and " << batchStride;
  return success();
}

LogicalResult ProductAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type type,
                                  bool tf32, int64_t batches, int64_t rows, int64_t columns,
                                  int64_t depth, MatrixAttr a, MatrixAttr b, MatrixAttr d, Epilogue,
                                  MatrixAttr, MatrixAttr, int64_t workspaceBytes) {
  if (!llvm::isa<FloatType>(type) || (tf32 && !type.isF32()))
    return emitError() << "a product of " << type << (tf32 ? " in tf32" : "")
                       << " is none of a library";
  if (batches < 1 || rows < 1 || columns < 1 || depth < 1 || workspaceBytes < 0)
    return emitError() << "a product has " << batches << " batches of " << rows << " x " << columns
                       << " sums of " << depth;
  for (auto [matrix, high, wide] :
       {std::tuple(a, rows, depth), std::tuple(b, depth, columns), std::tuple(d, rows, columns)})
    if (matrix.getStride() < (matrix.getTransposed() ? high : wide))
      return emitError() << "a matrix of " << high << " x " << wide << " has a stride of "
                         << matrix.getStride();
  return success();
}

LogicalResult GridAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef entry,
                               int64_t blocks, int64_t threads, DenseI64ArrayAttr buffers,
                               ProductAttr, bool) {
  if (blocks < 1 || blocks > INT32_MAX || threads < 1 || threads > 1024)
    return emitError() << "a grid of " << blocks << " blocks of " << threads
                       << " threads is none that a device runs";
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
