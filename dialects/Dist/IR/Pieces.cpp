#include "dialects/Dist/IR/Pieces.h"

#include "dialects/Dist/IR/Messages.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Pieces.cpp.inc"

LogicalResult PieceOp::verify() {
  if (getKind() != "F" && getKind() != "B" && getKind() != "W") // piece_c1
    return emitOpError("has the kind ") << getKindAttr() << "; known: F, B, W";
  if (getBodyBlock().getTerminator()->getOperandTypes() != getResultTypes()) // piece_c2
    return emitOpError("yields ") << getBodyBlock().getTerminator()->getOperandTypes() << ", not "
                                  << getResultTypes();
  for (Operation &op : getBodyBlock())
    if (isMessage(&op) || isa<PieceOp>(op)) // piece_c3
      return emitOpError("holds ") << op.getName();
  return success();
}

LogicalResult PieceOp::interpret(InterpreterContext &context, ArrayRef<const HostTensor *>,
                                 MutableArrayRef<HostTensor> out) {
  SmallVector<HostTensor> yielded;
  if (failed(context.runRegion(getBody(), {}, yielded)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(out, yielded))
    result = std::move(value);
  return success();
}

SmallVector<PieceOp> dpc::dist::piecesOf(MicroOp loop) {
  return llvm::to_vector(loop.getBodyBlock().getOps<PieceOp>());
}

SmallVector<Value> dpc::dist::readBy(PieceOp piece) {
  llvm::SetVector<Value> read;
  piece.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!piece.getBody().isAncestor(operand.getParentRegion()))
        read.insert(operand);
  });
  return read.takeVector();
}
