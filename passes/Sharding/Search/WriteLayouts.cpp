// Writes layouts, and the reshards between them, into the program.

#include "passes/Sharding/Search/WriteLayouts.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Interfaces/SignatureAttrs.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

namespace {

class LayoutWriter {
public:
  LayoutWriter(const LayoutBoundary &boundary, const ProgramLoops &program,
               const Assignment &assignment, const MeshShape &mesh, KnownLayouts &known,
               bool explain)
      : boundary(boundary), function(boundary.getFunction()), context(function->getContext()),
        program(program), assignment(assignment), mesh(mesh), known(known), explain(explain) {}

  void run() {
    writeCost();
    writeArguments();
    for (auto [index, op] : llvm::enumerate(program.getOps()))
      writeOp(op.op, assignment.getOperands(index), assignment.getResults(index));
    writeResults();
  }

private:
  Attribute attrOf(const Layout &layout) const { return LayoutAttr::get(context, layout); }

  ArrayAttr attrOf(ArrayRef<Layout> layouts) const {
    SmallVector<Attribute> attrs;
    for (const Layout &layout : layouts)
      attrs.push_back(attrOf(layout));
    return ArrayAttr::get(context, attrs);
  }

  /// Writes the modelled cost of the layouts.
  void writeCost() {
    const Price &moving = assignment.getTraffic();
    auto nanoseconds = [](double seconds) { return std::llround(1e9 * seconds); };
    function->setAttr(DistDialect::kCostAttrName,
                      CostAttr::get(context, nanoseconds(assignment.getSeconds() - moving.seconds),
                                    nanoseconds(moving.seconds), std::llround(moving.bytes)));
  }

  void writeArguments() {
    SignatureAttrs attributes(function);
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      const Layout &layout = assignment.getLayout(function.getArgument(i));
      attributes.setArg(i, DistDialect::kLayoutAttrName, attrOf(layout));
      if (nn::ArgAttr arg = nn::getArg(function, i))
        known.add(arg, layout);
    }
    attributes.write();
  }

  void writeOp(Operation *op, ArrayRef<Layout> operands, ArrayRef<Layout> results) {
    for (OpOperand &operand : op->getOpOperands())
      reshard(operand, operands[operand.getOperandNumber()]);
    op->setAttr(DistDialect::kOperandsAttrName, attrOf(operands));
    op->setAttr(DistDialect::kResultsAttrName, attrOf(results));
    for (auto [result, from] : llvm::zip_equal(op->getResults(), results))
      if (const Layout &to = assignment.getLayout(result); !sameLayout(from, to, mesh))
        bring(result, from, to);
  }

  /// Makes the op of `operand` read it in the layout `to`.
  void reshard(OpOperand &operand, const Layout &to) {
    Value value = operand.get();
    const Layout &from = assignment.getLayout(value);
    if (Value other = brought.lookup(value)) {
      value = other;
      operand.set(other);
    }
    if (sameLayout(from, to, mesh))
      return;
    Value &result = made[{value.getAsOpaquePointer(), toString(normalize(to))}];
    if (!result) {
      OpBuilder builder(operand.getOwner());
      result = create(builder, operand.getOwner()->getLoc(), value, from, to);
      if (explain)
        operand.getOwner()->emitRemark("reshards ")
            << value.getType() << " from " << toString(from) << " to " << toString(to);
    }
    operand.set(result);
  }

  /// Reshards a result directly after its op, from the layout `from` in which it is made to
  /// the layout `to`. All readers then read the resharded value.
  void bring(OpResult result, const Layout &from, const Layout &to) {
    OpBuilder builder(context);
    builder.setInsertionPointAfter(result.getOwner());
    brought[result] = create(builder, result.getOwner()->getLoc(), result, from, to);
    if (explain)
      result.getOwner()->emitRemark("reshards ") << result.getType() << " from " << toString(from)
                                                 << " to " << toString(to) << ", as asked for";
  }

  Value create(OpBuilder &builder, Location loc, Value value, const Layout &from,
               const Layout &to) const {
    return builder.create<ReshardOp>(loc, value.getType(), value, LayoutAttr::get(context, from),
                                     LayoutAttr::get(context, to));
  }

  void writeResults() {
    SmallVector<Attribute> layouts;
    for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
      const unsigned number = operand.getOperandNumber();
      nn::ResultAttr attr = nn::getResult(function, number);
      Layout to = Layout::replicated(nn::typeOf(operand.get()).getShape());
      if (attr && attr.getKind() == nn::ResultKind::state) {
        to = *known.findState(attr.getName());
      } else if (attr && attr.getKind() == nn::ResultKind::output) {
        // The host assembles an output from its shards.
        to = assignment.getLayout(operand.get());
        to.partial.clear();
        to = known.stored(to);
        nn::setBatchDim(function, number, boundary.batchDimOf(program, operand.get()));
      }
      reshard(operand, to);
      layouts.push_back(attrOf(to));
    }
    SignatureAttrs attributes(function);
    for (auto [number, layout] : llvm::enumerate(layouts))
      attributes.setResult(number, DistDialect::kLayoutAttrName, layout);
    attributes.write();
  }

  const LayoutBoundary &boundary;
  func::FuncOp function;
  MLIRContext *context;
  const ProgramLoops &program;
  const Assignment &assignment;
  const MeshShape &mesh;
  KnownLayouts &known;
  const bool explain;
  /// Maps a value that is resharded directly after its op to the resharded value.
  llvm::DenseMap<Value, Value> brought;
  /// One reshard per (value, layout), placed before its first user.
  std::map<std::pair<void *, std::string>, Value> made;
};

} // namespace

void dpc::writeLayouts(const LayoutBoundary &boundary, const ProgramLoops &program,
                       const Assignment &assignment, const MeshShape &mesh, KnownLayouts &known,
                       bool explain) {
  LayoutWriter(boundary, program, assignment, mesh, known, explain).run();
}
