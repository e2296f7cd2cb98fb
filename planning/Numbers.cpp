// Prints and checks numbers of machines.

#include "planning/Numbers.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

std::string dpc::numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

llvm::Error dpc::checkNumber(llvm::StringRef owner, llvm::StringRef what, double value,
                             bool mayBeZero) {
  if (std::isfinite(value) && (value > 0 || (mayBeZero && value == 0)))
    return llvm::Error::success();
  return planError("{0} has the {1} {2}, which must be {3}", owner, what, numberText(value),
                   mayBeZero ? "0 or more, and finite" : "above 0, and finite");
}
