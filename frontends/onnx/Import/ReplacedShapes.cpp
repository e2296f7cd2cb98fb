// Reports --shape options that replace extents which the file fixes.

#include "frontends/onnx/Import/ReplacedShapes.h"

#include "frontends/onnx/Import/Conversion.h"

using namespace mlir;

namespace dpc::onnx {

/// "the file fixes dimension 0 of input 'x' at 2, and --shape=x:8x16 replaces that".
static std::string describe(ArrayRef<ReplacedShape> replaced) {
  const ReplacedShape &first = replaced.front();
  std::string text = "the file fixes ";
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      llvm::enumerate(first.fixed), os,
      [&](auto each) {
        auto [dim, extent] = each.value();
        os << "dimension " << dim;
        if (each.index() == 0)
          os << " of input '" << first.input << '\'';
        os << " at " << extent;
      },
      ", ");
  os << ", and --shape=" << first.input << ':';
  llvm::interleave(first.asked, os, "x");
  os << " replaces that";
  if (const size_t more = replaced.size() - 1)
    os << " (the same for " << more << " more input" << (more > 1 ? "s)" : ")");
  return text;
}

std::vector<ReplacedShape> findReplacedShapes(ArrayRef<GraphInput> inFile,
                                              ArrayRef<GraphInput> inputs) {
  std::vector<ReplacedShape> replaced;
  for (auto [before, after] : llvm::zip_equal(inFile, inputs)) {
    if (!before.hasRank)
      continue;
    ReplacedShape each{after.name, {}, after.shape};
    for (auto [dim, extent] : llvm::enumerate(before.shape))
      if (extent >= 0 && extent != after.shape[dim])
        each.fixed.push_back({dim, extent});
    if (!each.fixed.empty())
      replaced.push_back(std::move(each));
  }
  return replaced;
}

ReplacedShapeHandler::ReplacedShapeHandler(MLIRContext *context, ArrayRef<ReplacedShape> replaced)
    : ScopedDiagnosticHandler(context) {
  // Always returns failure, so that the previous handler prints the diagnostic.
  setHandler([replaced, isFirst = true](Diagnostic &diagnostic) mutable {
    if (replaced.empty() || !isFirst || diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    isFirst = false;
    const bool hasHint = StringRef(diagnostic.str()).contains(bakedBatchHint);
    diagnostic << "; " << describe(replaced);
    if (!hasHint)
      diagnostic << bakedBatchHint;
    return failure();
  });
}

void remarkReplaced(ArrayRef<ReplacedShape> replaced, Location loc) {
  if (!replaced.empty())
    emitRemark(loc) << describe(replaced);
}

} // namespace dpc::onnx
