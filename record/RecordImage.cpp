// Turns C structs that dpc has filled into constants of an LLVM module: raw bytes, with
// references to symbols in place of pointers.

#include "record/RecordImage.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace dpc;

GlobalVariable *RecordImage::emit(Module &module, StringRef name, bool isExternal) {
  if (empty())
    return nullptr;
  LLVMContext &context = module.getContext();
  llvm::sort(pointers, [](const auto &a, const auto &b) { return a.first < b.first; });
  SmallVector<Constant *> pieces;
  uint64_t at = 0;
  auto addBytes = [&](uint64_t end) {
    if (end > at)
      pieces.push_back(ConstantDataArray::getRaw(StringRef(bytes).slice(at, end), end - at,
                                                 llvm::Type::getInt8Ty(context)));
    at = end;
  };
  for (auto [offset, target] : pointers) {
    addBytes(offset);
    pieces.push_back(target);
    at += sizeof(void *);
  }
  addBytes(bytes.size());
  Constant *value = ConstantStruct::getAnon(context, pieces, /*Packed=*/true);
  auto *global = new GlobalVariable(
      module, value->getType(), /*isConstant=*/true,
      isExternal ? GlobalValue::ExternalLinkage : GlobalValue::PrivateLinkage, value, name);
  global->setAlignment(Align(64));
  return global;
}

Constant *ConstantPool::getString(StringRef text) {
  auto [entry, isNew] = strings.try_emplace(text);
  if (isNew) {
    Constant *value = ConstantDataArray::getString(module.getContext(), text);
    auto *global = new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                      GlobalValue::PrivateLinkage, value, "text");
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    entry->second = global;
  }
  return entry->second;
}

Constant *ConstantPool::addBytes(StringRef bytes, StringRef name) {
  Constant *value =
      ConstantDataArray::getRaw(bytes, bytes.size(), llvm::Type::getInt8Ty(module.getContext()));
  auto *global = new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                    GlobalValue::PrivateLinkage, value, name);
  global->setAlignment(Align(64));
  return global;
}

Constant *ConstantPool::addOutsideBytes(StringRef bytes, StringRef name) {
  if (!outside)
    return addBytes(bytes, name);
  std::string symbol = ("dpc_" + name + "." + Twine(outside->size())).str();
  auto *global = new GlobalVariable(
      module, ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), bytes.size()),
      /*isConstant=*/true, GlobalValue::ExternalLinkage, nullptr, symbol);
  global->setVisibility(GlobalValue::HiddenVisibility);
  outside->push_back({std::move(symbol), bytes});
  return global;
}

Constant *ConstantPool::addIntegers(ArrayRef<int64_t> values, StringRef name) {
  RecordImage image;
  for (int64_t value : values)
    image.append(value);
  return image.emit(module, name);
}
