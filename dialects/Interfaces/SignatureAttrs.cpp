// Collects changes to the attributes of a function's arguments and results, and
// writes them at once.

#include "dialects/Interfaces/SignatureAttrs.h"

using namespace mlir;
using namespace dpc;

SignatureAttrs::SignatureAttrs(FunctionOpInterface function) : function(function) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    args.push_back(NamedAttrList(function.getArgAttrDict(index)));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    results.push_back(NamedAttrList(function.getResultAttrDict(index)));
}

void SignatureAttrs::write() {
  auto dictionaries = [&](llvm::SmallVector<NamedAttrList> &lists) {
    llvm::SmallVector<DictionaryAttr> made;
    for (NamedAttrList &list : lists)
      made.push_back(list.getDictionary(function->getContext()));
    return made;
  };
  function.setAllArgAttrs(dictionaries(args));
  function.setAllResultAttrs(dictionaries(results));
}
