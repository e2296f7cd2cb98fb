// Verifiers and interpreter rules of the ops of flat storage, and access to the
// attribute `dist.storage`.

#include "dialects/Dist/IR/FlatStorage.h"

#include "dialects/Dist/IR/Collectives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

#define GET_OP_CLASSES
#include "dialects/Dist/IR/FlatStorage.cpp.inc"

/// Verifies that `members` lie inside `flat` at `offsets`, in ascending order and
/// without overlap.
static LogicalResult verifyMembers(Operation *op, ValueRange members, ArrayRef<int64_t> offsets,
                                   RankedTensorType flat) {
  if (members.size() != offsets.size()) // pack_c1
    return op->emitOpError("has ")
           << offsets.size() << " offsets for " << members.size() << " tensors";
  int64_t end = 0;
  for (auto [member, offset] : llvm::zip_equal(members, offsets)) {
    RankedTensorType type = cast<RankedTensorType>(member.getType());
    if (type.getElementType() != flat.getElementType()) // pack_c3
      return op->emitOpError("lays ") << type << " into " << flat;
    if (offset < end || offset + type.getNumElements() > flat.getNumElements())
      return op->emitOpError("lays ") // pack_c2
             << type << " at " << offset << " of " << flat << ", where the one before ends at "
             << end;
    end = offset + type.getNumElements();
  }
  return success();
}

LogicalResult PackOp::verify() {
  return verifyMembers(*this, getInputs(), getOffsets(), getResult().getType());
}

LogicalResult UnpackOp::verify() {
  return verifyMembers(*this, getResults(), getOffsets(), getInput().getType());
}

dpc::FusionKind UnpackOp::getFusionKind() { return FusionKind::view; }

dpc::FusionKind ShardOp::getFusionKind() { return FusionKind::view; }

LogicalResult ShardOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<int64_t> size = verifyGroup(*this, tables, getMeshAttr(), getAxes());
  if (failed(size))
    return failure();
  RankedTensorType all = getInput().getType(), shard = getResult().getType();
  if (all.getElementType() != shard.getElementType() ||
      all.getNumElements() != shard.getNumElements() * *size) // shard_c3
    return emitOpError("takes ") << shard << " of " << all << " in a group of " << *size;
  return success();
}

//===----------------------------------------------------------------------===//
// Interpreter rules
//===----------------------------------------------------------------------===//

using Operands = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

/// Copies `count` elements from element `first` of `from` to element `at` of `to`,
/// which has the same element type.
static void copyElements(const HostTensor &from, int64_t first, int64_t count, HostTensor &to,
                         int64_t at) {
  if (from.isFloat())
    std::copy_n(from.floats.begin() + first, count, to.floats.begin() + at);
  else
    std::copy_n(from.ints.begin() + first, count, to.ints.begin() + at);
}

LogicalResult PackOp::interpret(InterpreterContext &, Operands in, Results out) {
  for (auto [input, offset] : llvm::zip_equal(in, getOffsets()))
    copyElements(*input, 0, input->size(), out[0], offset);
  return success();
}

LogicalResult UnpackOp::interpret(InterpreterContext &, Operands in, Results out) {
  for (auto [result, offset] : llvm::zip_equal(out, getOffsets()))
    copyElements(*in[0], offset, result.size(), result, 0);
  return success();
}

LogicalResult ShardOp::interpret(InterpreterContext &context, Operands in, Results out) {
  auto axes = llvm::to_vector(getAxes().getAsValueRange<StringAttr>());
  int64_t index = context.getGroupIndex(axes);
  int64_t count = out[0].size();
  copyElements(*in[0], index * count, count, out[0], 0);
  return success();
}

//===----------------------------------------------------------------------===//
// #dist.storage
//===----------------------------------------------------------------------===//

StorageAttr dpc::dist::getArgStorage(FunctionOpInterface function, unsigned index) {
  return function.getArgAttrOfType<StorageAttr>(index, DistDialect::kStorageAttrName);
}

StorageAttr dpc::dist::getResultStorage(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<StorageAttr>(index, DistDialect::kStorageAttrName);
}
