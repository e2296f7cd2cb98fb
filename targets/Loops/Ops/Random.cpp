// Element rule of nn.random_uniform. It computes Philox in i64, where the product
// of two 32-bit words is one instruction.

#include "dialects/NN/IR/Random.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <array>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {
struct Words {
  LoopEmitter &e;

  Value constant(uint64_t value) { return e.constantInt(e.builder.getI64Type(), APInt(64, value)); }
  Value add(Value x, Value y) { return e.make<arith::AddIOp>(x, y); }
  Value mul(Value x, Value y) { return e.make<arith::MulIOp>(x, y); }
  Value exclusiveOr(Value x, Value y) { return e.make<arith::XOrIOp>(x, y); }
  Value high(Value x, unsigned shift = 32) { return e.make<arith::ShRUIOp>(x, constant(shift)); }
  Value low(Value x) { return e.make<arith::AndIOp>(x, constant(0xFFFFFFFFu)); }
};

struct RandomUniformRule : ElementRule<RandomUniformRule, RandomUniformOp> {
  void reads(RandomUniformOp op, IndexSpace &space, const ElementIndex &index,
             VisitRead read) const {
    for (OpOperand &operand : op->getOpOperands()) {
      bool isScalar = operand.get() != op.getIndex();
      read(operand.getOperandNumber(), isScalar ? elementOf(space, operand.get(), {}) : index);
    }
  }

  Value element(RandomUniformOp op, LoopEmitter &e, const ElementIndex &index) const {
    Words w{e};
    ArrayRef<LoopEmitter::Index> none;
    Value seed = e.read(op.getSeed(), none), step = e.read(op.getStep(), none),
          number = e.read(op.getIndex(), index);
    Value z = w.add(seed, w.constant((op.getOrdinal() + 1) * 0x9E3779B97F4A7C15u));
    z = w.mul(w.exclusiveOr(z, w.high(z, 30)), w.constant(0xBF58476D1CE4E5B9u));
    z = w.mul(w.exclusiveOr(z, w.high(z, 27)), w.constant(0x94D049BB133111EBu));
    Value key = w.exclusiveOr(z, w.high(z, 31));
    std::array<Value, 4> c{w.low(number), w.high(number), w.low(step), w.high(step)};
    Value key0 = w.low(key), key1 = w.high(key);
    for (int round = 0; round < 10; ++round) {
      Value product0 = w.mul(c[0], w.constant(0xD2511F53u)),
            product1 = w.mul(c[2], w.constant(0xCD9E8D57u));
      c = {w.exclusiveOr(w.exclusiveOr(w.high(product1), c[1]), key0), w.low(product1),
           w.exclusiveOr(w.exclusiveOr(w.high(product0), c[3]), key1), w.low(product0)};
      key0 = w.low(w.add(key0, w.constant(0x9E3779B9u)));
      key1 = w.low(w.add(key1, w.constant(0xBB67AE85u)));
    }
    // Put the upper 24 bits of the first word in a signed 32-bit integer, because every
    // vector unit can convert these to floats.
    Type type = typeOf(op.getResult()).getElementType();
    Value bits = e.make<arith::TruncIOp>(e.builder.getI32Type(), w.high(c[0], 8));
    return e.make<arith::MulFOp>(e.make<arith::SIToFPOp>(type, bits),
                                 e.constantLike(type, 0x1p-24));
  }
};

} // namespace

void dpc::attachRandomRules(MLIRContext &context) {
  RandomUniformOp::attachInterface<RandomUniformRule>(context);
}
