// Converts between product makers and their names.

#include "planning/ProductMaker.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

StringRef dpc::nameOf(ProductMaker maker) {
  switch (maker) {
  case ProductMaker::bySize:
    return "auto";
  case ProductMaker::generated:
    return "generated";
  case ProductMaker::library:
    return "library";
  }
  llvm_unreachable("a maker of products");
}

std::optional<dpc::ProductMaker> dpc::parseProductMaker(StringRef name) {
  return StringSwitch<std::optional<ProductMaker>>(name)
      .Case("auto", ProductMaker::bySize)
      .Case("generated", ProductMaker::generated)
      .Case("library", ProductMaker::library)
      .Default(std::nullopt);
}
