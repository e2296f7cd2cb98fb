// Registers the `dist` dialect and its attributes, and verifies the attributes that
// functions, arguments and ops of other dialects carry.

#include "dialects/Dist/IR/DistDialect.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"
#include "planning/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dpc::dist;

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/IR/DistAttrs.cpp.inc"

#include "dialects/Dist/IR/DistDialect.cpp.inc"

void DistDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dist/IR/DistAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/IR/Collectives.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/IR/FlatStorage.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/IR/Messages.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Dist/IR/Pieces.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #dist.layout
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text;
  llvm::SMLoc start;
  if (parser.parseLess() || parser.getCurrentLocation(&start) || parser.parseString(&text) ||
      parser.parseGreater())
    return {};
  llvm::Expected<Layout> layout = parseLayout(text);
  if (!layout) {
    parser.emitError(start) << "layout \"" << text << "\": " << llvm::toString(layout.takeError());
    return {};
  }
  return get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << toString(getLayout()) << "\">";
}

//===----------------------------------------------------------------------===//
// Attributes on other dialects' ops
//===----------------------------------------------------------------------===//

/// Verifies that `attr` lists one layout for each of the values with the types
/// `types`, and that each layout has the shape of its value.
static LogicalResult verifyLayouts(Operation *op, Attribute attr, StringRef what, TypeRange types) {
  auto array = dyn_cast<ArrayAttr>(attr);
  if (!array || array.size() != types.size())
    return op->emitOpError() << what << " does not hold one layout for each of " << types.size()
                             << " values";
  for (auto [element, type] : llvm::zip_equal(array, types)) {
    auto layout = dyn_cast<LayoutAttr>(element);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!layout || !tensor ||
        layout.getLayout().shape() != SmallVector<int64_t, 4>(tensor.getShape()))
      return op->emitOpError() << what << " has " << element << " for a value of type " << type;
  }
  return success();
}

/// Whether `attr` lists axis names for each dimension of `type`.
static bool isRequestOf(Attribute attr, Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  auto dims = dyn_cast<ArrayAttr>(attr);
  return tensor && dims && int64_t(dims.size()) == tensor.getRank() &&
         llvm::all_of(dims, [](Attribute dim) {
           auto axes = dyn_cast<ArrayAttr>(dim);
           return axes && llvm::all_of(axes, [](Attribute axis) { return isa<StringAttr>(axis); });
         });
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  if (attr.getName() == kOperandsAttrName)
    return verifyLayouts(op, attr.getValue(), attr.getName(), op->getOperandTypes());
  if (attr.getName() == kResultsAttrName)
    return verifyLayouts(op, attr.getValue(), attr.getName(), op->getResultTypes());
  if (attr.getName() == kMachineAttrName && isa<MachineAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kPlanAttrName && isa<PlanAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kCostAttrName && isa<CostAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kPipelineAttrName && isa<PipelineAttr>(attr.getValue()))
    return success();
  if ((attr.getName() == kBordersAttrName || attr.getName() == kCrossingsAttrName) &&
      isa<ArrayAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kRequestAttrName) {
    Type type = op->getNumResults() ? op->getResult(0).getType() : Type();
    if (isRequestOf(attr.getValue(), type))
      return success();
    return op->emitOpError() << attr.getName() << " has no list of axes for each dimension of "
                             << type;
  }
  if ((attr.getName() == kChunksAttrName || attr.getName() == kStagesAttrName ||
       attr.getName() == kCutBytesAttrName) &&
      isa<DenseI64ArrayAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kStageAttrName && isa<IntegerAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kOrderAttrName && isa<StringAttr>(attr.getValue()))
    return success();
  return op->emitError("has the unknown attribute ") << attr.getName();
}

/// Verifies the flat storage of an argument or result of type `type`. The members
/// must have the element type of `type`. If no mesh axis divides the storage, the
/// members must also end inside it. If mesh axes divide the storage, `type` is the
/// type of one shard, and the size of the storage is not known here.
static LogicalResult verifyStorageOf(Operation *op, StringRef what, unsigned index,
                                     StorageAttr storage, Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  auto fail = [&]() {
    return op->emitError() << what << " " << index << " has storage " << storage << " for type "
                           << type;
  };
  if (!tensor || tensor.getRank() != 1)
    return fail();
  for (MemberAttr member : storage.getMembers())
    if (member.getTensorType().getElementType() != tensor.getElementType() ||
        (storage.getAxes().empty() &&
         member.getOffset() + member.getTensorType().getNumElements() > tensor.getNumElements()))
      return fail();
  return success();
}

/// Verifies the layout or flat storage of an argument or result of type `type`. A
/// layout must have the rank of `type`. From level `local` on `type` is the type of
/// a shard, so their extents may differ.
static LogicalResult verifyLayoutOf(Operation *op, StringRef what, unsigned index,
                                    NamedAttribute attr, Type type) {
  if (attr.getName() == DistDialect::kStorageAttrName)
    if (auto storage = dyn_cast<StorageAttr>(attr.getValue()))
      return verifyStorageOf(op, what, index, storage, type);
  auto layout = dyn_cast<LayoutAttr>(attr.getValue());
  if (attr.getName() != DistDialect::kLayoutAttrName || !layout)
    return op->emitError() << what << " " << index << " has " << attr.getName()
                           << " that is not #dist.layout";
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  if (!tensor || int64_t(layout.getLayout().dims.size()) != tensor.getRank())
    return op->emitError() << what << " " << index << " has layout " << layout << " for type "
                           << type;
  return success();
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function ? function.getArgumentTypes()[index] : Type();
  if (attr.getName() == kRequestAttrName && isRequestOf(attr.getValue(), type))
    return success();
  if (attr.getName() == kChunksAttrName && isa<DenseI64ArrayAttr>(attr.getValue()))
    return success();
  return verifyLayoutOf(op, "argument", index, attr, type);
}

LogicalResult DistDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyLayoutOf(op, "result", index, attr,
                        function ? function.getResultTypes()[index] : Type());
}
