#include "passes/Memory/LargestTensors.h"

#include "dialects/Exec/IR/ExecDialect.h"
#include "planning/SizeText.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

/// Prints `type` as its element type and shape, e.g. f32[8, 64].
static void print(llvm::raw_ostream &os, Type type) {
  auto buffer = cast<MemRefType>(type);
  os << buffer.getElementType() << "[";
  llvm::interleaveComma(buffer.getShape(), os);
  os << "]";
}

std::string dpc::describeLargest(ModuleOp module) {
  std::string text = "the largest there: ";
  llvm::raw_string_ostream os(text);
  auto live = module->getAttrOfType<LiveBytesAttr>(ExecDialect::kLiveBytesAttrName);
  llvm::interleave(
      live.getLargest().getAsRange<LiveTensorAttr>(), os,
      [&](LiveTensorAttr tensor) {
        if (!tensor.getName().empty())
          os << "'" << tensor.getName() << "' ";
        print(os, tensor.getType());
        os << " of " << bytesText(tensor.getBytes());
      },
      ", ");
  return text;
}
