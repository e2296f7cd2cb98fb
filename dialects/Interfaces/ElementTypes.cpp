#include "dialects/Interfaces/ElementTypes.h"

#include "dpc/types.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

Type dpc::elementTypeOf(uint32_t dtype, MLIRContext *context) {
  auto integer = [&](unsigned width, bool isUnsigned) {
    return IntegerType::get(context, width,
                            isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (dtype) {
  case DPC_F64:
    return Float64Type::get(context);
  case DPC_F32:
    return Float32Type::get(context);
  case DPC_F16:
    return Float16Type::get(context);
  case DPC_BF16:
    return BFloat16Type::get(context);
  case DPC_I64:
    return integer(64, false);
  case DPC_I32:
    return integer(32, false);
  case DPC_I16:
    return integer(16, false);
  case DPC_I8:
    return integer(8, false);
  case DPC_U64:
    return integer(64, true);
  case DPC_U32:
    return integer(32, true);
  case DPC_U16:
    return integer(16, true);
  case DPC_U8:
    return integer(8, true);
  case DPC_BOOL:
    return integer(1, false);
  default:
    return Type();
  }
}

uint32_t dpc::dtypeOf(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  // A signed integer type has the same number as the signless type of its width.
  if (integer && integer.isSigned())
    element = IntegerType::get(element.getContext(), integer.getWidth());
  for (uint32_t dtype = DPC_DTYPE_INVALID + 1; dtype < DPC_DTYPE_COUNT; ++dtype)
    if (elementTypeOf(dtype, element.getContext()) == element)
      return dtype;
  return DPC_DTYPE_INVALID;
}
