// Looks through conversions between float types.

#include "dialects/NN/IR/Conversions.h"

#include "dialects/NN/IR/Elementwise.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

bool nn::isConversion(Operation *op) {
  return isa_and_nonnull<ConvertOp>(op) && isFloat(op->getOperand(0)) && isFloat(op->getResult(0));
}

Value nn::getSource(Value value) {
  while (isConversion(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

SmallVector<Value> nn::getForms(Value value) {
  SmallVector<Value> forms = {value};
  for (size_t next = 0; next < forms.size(); ++next)
    for (Operation *user : forms[next].getUsers())
      if (isConversion(user))
        forms.push_back(user->getResult(0));
  return forms;
}

bool nn::isReadOnlyBy(Value value, llvm::function_ref<bool(Operation *)> isReader) {
  bool isRead = false;
  for (Value form : getForms(value))
    for (Operation *user : form.getUsers()) {
      if (isConversion(user))
        continue;
      if (!isReader(user))
        return false;
      isRead = true;
    }
  return isRead;
}
