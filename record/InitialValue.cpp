// Decides how the record stores the initial value of a state. If the value is a splat, and a double
// can represent every number of its element type, the record has one number. Otherwise it has the
// bytes of all elements.

#include "record/InitialValue.h"

#include "record/Tensors.h"

#include "dialects/NN/IR/Program.h"
#include "dpc/records.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace dpc;

static double splatOf(DenseElementsAttr dense) {
  if (isa<FloatType>(dense.getElementType())) {
    APFloat value = dense.getSplatValue<APFloat>();
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
  APInt value = dense.getSplatValue<APInt>();
  bool isUnsigned = dense.getElementType().isUnsignedInteger() || value.getBitWidth() == 1;
  return isUnsigned ? double(value.getZExtValue()) : double(value.getSExtValue());
}

/// Whether a double can represent every value of the type.
static bool fitsDouble(Type type) {
  return isa<FloatType>(type) || type.getIntOrFloatBitWidth() <= 32;
}

FailureOr<InitialValue> dpc::readInitialValue(nn::VariableOp variable) {
  InitialValue result;
  if (!variable)
    return result;
  ElementsAttr value = variable.getValue();
  Type element = value.getElementType();
  result.dtype = dtypeOf(element);
  result.kind = DPC_INIT_EMBEDDED;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return variable.emitOpError("has lost its value");
    ArrayRef<char> data = blob->getData();
    result.bytes = StringRef(data.data(), data.size());
    return result;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return variable.emitOpError("has a value that cannot be read");
  if (dense.isSplat() && fitsDouble(element)) {
    result.kind = DPC_INIT_SPLAT;
    result.splat = splatOf(dense);
    return result;
  }
  // MLIR attributes pack booleans into bits, and store only one element of a splat. So the
  // bytes of all elements must be written out here.
  if (element.isInteger(1) || dense.isSplat()) {
    auto bytes = std::make_shared<std::string>();
    int64_t width = element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8;
    for (const APInt &item : dense.getValues<APInt>()) {
      uint64_t bits = item.getZExtValue();
      bytes->append(reinterpret_cast<const char *>(&bits), width);
    }
    result.owned = bytes;
    result.bytes = *bytes;
    return result;
  }
  ArrayRef<char> data = dense.getRawData();
  result.bytes = StringRef(data.data(), data.size());
  return result;
}
