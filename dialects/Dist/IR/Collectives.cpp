// Verifiers and custom syntax of meshes, collectives, reshards and microbatch
// loops. Their interpreter rules are in CollectivesInterp.cpp. A trailing comment
// such as `mesh_c1` names the constraint that its line checks: (C1) of dist.mesh.

#include "dialects/Dist/IR/Collectives.h"

#include "dialects/Interfaces/FusableOpInterface.h"

#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

SmallVector<StringRef> dist::axesOf(CollectiveOpInterface collective) {
  return SmallVector<StringRef>(collective.getAxes().getAsValueRange<StringAttr>());
}

int64_t dist::membersOf(CollectiveOpInterface collective) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(collective, collective.getMeshAttr());
  return groupSize(mesh.getShape(), axesOf(collective));
}

/// Parses the kinds of a dist.micro's operands or results, e.g. `[whole,
/// sliced]`.
static ParseResult parseMicroKinds(OpAsmParser &parser, DenseI32ArrayAttr &kinds) {
  SmallVector<int32_t> values;
  auto parseKind = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<MicroKind> kind = symbolizeMicroKind(word);
    if (!kind)
      return parser.emitError(loc, "'") << word << "' is not whole, sliced, stacked or summed";
    values.push_back(static_cast<int32_t>(*kind));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseKind))
    return failure();
  kinds = parser.getBuilder().getDenseI32ArrayAttr(values);
  return success();
}

static void printMicroKinds(OpAsmPrinter &printer, Operation *, DenseI32ArrayAttr kinds) {
  printer << "[";
  llvm::interleaveComma(kinds.asArrayRef(), printer, [&](int32_t kind) {
    printer << stringifyMicroKind(static_cast<MicroKind>(kind));
  });
  printer << "]";
}

/// Parses the result types of a dist.micro, e.g. `(tensor<4xf32>, tensor<f32>)`
/// or `()`.
static ParseResult parseMicroTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                        [&] { return parser.parseType(types.emplace_back()); });
}

static void printMicroTypes(OpAsmPrinter &printer, Operation *, TypeRange types) {
  printer << "(" << types << ")";
}

#include "dialects/Dist/IR/CollectiveOpInterface.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Collectives.cpp.inc"

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// dist.mesh
//===----------------------------------------------------------------------===//

MeshShape MeshOp::getShape() {
  MeshShape shape;
  for (auto [name, size] : llvm::zip(getAxes().getAsValueRange<StringAttr>(), getSizes())) {
    bool sequential =
        getSequential() && llvm::is_contained(getSequential()->getAsValueRange<StringAttr>(), name);
    shape.axes.push_back({name.str(), size, sequential});
  }
  return shape;
}

LogicalResult MeshOp::verify() {
  if (getAxes().size() != getSizes().size()) // mesh_c1
    return emitOpError("has ") << getAxes().size() << " axes but " << getSizes().size() << " sizes";
  if (std::optional<std::string> defect = getShape().check()) // mesh_c2, c3
    return emitOpError(*defect);
  if (getSequential()) {
    for (StringRef axis : getSequential()->getAsValueRange<StringAttr>())
      if (!getShape().axisIndex(axis)) // mesh_c4
        return emitOpError("has sequential axis \"") << axis << "\", which is not among its axes";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

FailureOr<int64_t> dpc::dist::verifyGroup(Operation *op, SymbolTableCollection &tables,
                                          FlatSymbolRefAttr meshName, ArrayAttr axes) {
  auto mesh = tables.lookupNearestSymbolFrom<MeshOp>(op, meshName);
  if (!mesh) // all_reduce_c1, a constraint of all collectives
    return op->emitOpError("refers to ") << meshName << ", which is not a dist.mesh", failure();
  MeshShape shape = mesh.getShape();
  llvm::StringSet<> seen;
  int64_t size = 1;
  for (StringRef axis : axes.getAsValueRange<StringAttr>()) {
    std::optional<unsigned> index = shape.axisIndex(axis);
    if (!index || shape.axes[*index].sequential) { // all_reduce_c2
      InFlightDiagnostic diag = op->emitOpError("uses axis \"")
                                << axis << "\", which is not a parallel axis of " << meshName;
      diag.attachNote(mesh.getLoc()) << "mesh defined here";
      return failure();
    }
    if (!seen.insert(axis).second) // all_reduce_c2
      return op->emitOpError("lists axis \"") << axis << "\" twice", failure();
    size *= shape.axes[*index].size;
  }
  return size;
}

MeshOp dpc::dist::findMesh(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

MeshShape dpc::dist::getMeshShape(ModuleOp module) {
  MeshOp mesh = findMesh(module);
  return mesh ? mesh.getShape() : MeshShape();
}

bool dpc::dist::isCollective(Operation *op) { return isa<CollectiveOpInterface>(op); }

CollectiveOpInterface dpc::dist::asSumOverRanks(Operation *op) {
  auto collective = dyn_cast_or_null<CollectiveOpInterface>(op);
  if (!collective || collective.getCollective() != Collective::all_reduce ||
      collective.getReduction() != Reduction::sum)
    return nullptr;
  return collective;
}

bool dpc::dist::feedsCollective(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isCollective(user) || isMessage(user) ||
           (isView(user) && llvm::any_of(user->getResults(), feedsCollective));
  });
}

/// Verifies that the shape of `stacked` is `size` followed by the shape of
/// `single`. This is constraint (C3) of dist.all_gather and of
/// dist.reduce_scatter.
static LogicalResult verifyStacked(Operation *op, RankedTensorType single, RankedTensorType stacked,
                                   int64_t size) {
  SmallVector<int64_t> shape = {size};
  llvm::append_range(shape, single.getShape());
  if (RankedTensorType::get(shape, single.getElementType()) != stacked)
    return op->emitOpError("has types ")
           << single << " and " << stacked << " for a group of " << size;
  return success();
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &tables) {
  return success(succeeded(verifyGroup(*this, tables, getMeshAttr(), getAxes())));
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<int64_t> size = verifyGroup(*this, tables, getMeshAttr(), getAxes());
  if (failed(size))
    return failure();
  return verifyStacked(*this, typeOf(getInput()), typeOf(getResult()), *size);
}

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<int64_t> size = verifyGroup(*this, tables, getMeshAttr(), getAxes());
  if (failed(size))
    return failure();
  return verifyStacked(*this, typeOf(getResult()), typeOf(getInput()), *size);
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<int64_t> size = verifyGroup(*this, tables, getMeshAttr(), getAxes());
  if (failed(size))
    return failure();
  RankedTensorType type = typeOf(getInput());
  if (type.getRank() == 0 || type.getDimSize(0) != *size) // all_to_all_c3
    return emitOpError("cuts ") << type << " for a group of " << *size;
  return success();
}

LogicalResult ReshardOp::verify() {
  SmallVector<int64_t, 4> shape(typeOf(getInput()).getShape());
  for (LayoutAttr layout : {getFrom(), getTo()})
    if (layout.getLayout().shape() != shape) // reshard_c1
      return emitOpError("has layout ")
             << layout << " for a tensor of type " << getInput().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// dist.micro
//===----------------------------------------------------------------------===//

/// The type that a value of type `outside` around the loop has in the body of the
/// loop.
static RankedTensorType insideType(RankedTensorType outside, MicroKind kind) {
  if (kind == MicroKind::whole || kind == MicroKind::summed)
    return outside;
  return RankedTensorType::get(outside.getShape().drop_front(), outside.getElementType());
}

LogicalResult MicroOp::verify() {
  if (getOperandKinds().size() != getInputs().size() ||
      getResultKinds().size() != getNumResults()) // micro_c1
    return emitOpError("has ") << getOperandKinds().size() << " and " << getResultKinds().size()
                               << " kinds for " << getInputs().size() << " operands and "
                               << getNumResults() << " results";
  auto check = [&](Value outside, Value inside, MicroKind kind, bool allowed,
                   MicroKind cuts) -> LogicalResult {
    RankedTensorType type = typeOf(outside);
    if (!allowed) // micro_c1
      return emitOpError("has kind ")
             << stringifyMicroKind(kind) << " on the wrong side of the loop";
    if (kind == cuts &&
        (type.getRank() == 0 || type.getDimSize(0) != int64_t(getCount()))) // micro_c2
      return emitOpError("cuts ") << type << " into " << getCount();
    if (inside.getType() != insideType(type, kind)) // micro_c2
      return emitOpError("has ") << inside.getType() << " inside for " << type << " outside, "
                                 << stringifyMicroKind(kind);
    return success();
  };
  Block &block = getBodyBlock();
  if (block.getNumArguments() != getInputs().size()) // micro_c2
    return emitOpError("has ") << block.getNumArguments() << " region arguments for "
                               << getInputs().size() << " operands";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield->getNumOperands() != getNumResults()) // micro_c2
    return emitOpError("yields ") << (yield ? yield->getNumOperands() : 0) << " values for "
                                  << getNumResults() << " results";
  for (unsigned i = 0; i < getInputs().size(); ++i) {
    MicroKind kind = getOperandKind(i);
    if (failed(check(getInputs()[i], block.getArgument(i), kind,
                     kind == MicroKind::whole || kind == MicroKind::sliced, MicroKind::sliced)))
      return failure();
  }
  for (unsigned i = 0; i < getNumResults(); ++i) {
    MicroKind kind = getResultKind(i);
    if (failed(check(getResult(i), yield->getOperand(i), kind,
                     kind == MicroKind::stacked || kind == MicroKind::summed, MicroKind::stacked)))
      return failure();
  }
  return success();
}
