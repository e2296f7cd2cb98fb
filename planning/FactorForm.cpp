// Converts between forms of factors and their names.

#include "planning/FactorForm.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

StringRef dpc::nameOf(FactorForm form) {
  switch (form) {
  case FactorForm::whole:
    return "f32";
  case FactorForm::rounded:
    return "tf32";
  case FactorForm::split:
    return "tf32x3";
  }
  llvm_unreachable("a form of factors");
}

std::optional<dpc::FactorForm> dpc::parseFactorForm(StringRef name) {
  return StringSwitch<std::optional<FactorForm>>(name)
      .Case("f32", FactorForm::whole)
      .Case("tf32", FactorForm::rounded)
      .Case("tf32x3", FactorForm::split)
      .Default(std::nullopt);
}
