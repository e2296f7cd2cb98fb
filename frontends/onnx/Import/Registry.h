// The ONNX operators that are imported, and the function that converts each.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_REGISTRY_H
#define DPC_FRONTENDS_ONNX_IMPORT_REGISTRY_H

#include "frontends/onnx/Import/Conversion.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dpc::onnx {

/// What makes nn ops of the operators of domain ai.onnx, by name. Which of them
/// there are at an opset, and what their nodes may look like, Schema says.
class Registry {
public:
  /// The registry with every family of Ops/.
  static const Registry &get();

  void add(llvm::StringRef name, ConvertFn convert) { entries[name] = convert; }
  /// The conversion of operator `name`, or nullptr.
  ConvertFn find(llvm::StringRef name) const { return entries.lookup(name); }
  /// All names, sorted.
  std::vector<llvm::StringRef> names() const;

private:
  llvm::StringMap<ConvertFn> entries;
};

/// Fails with one error that lists every (operator, opset, node) of `graph`
/// that `registry` or ONNX has not, or else with the first node that does not
/// fit its schema: inlining a function binds inputs and attributes that
/// checkModel could not see.
llvm::Error checkOperators(const Graph &graph, const Registry &registry);

// One function an op family, defined in Ops/<Family>.cpp.
void registerActivationOps(Registry &registry);
void registerAttentionOps(Registry &registry);
void registerBatchNormOps(Registry &registry);
void registerConstantOps(Registry &registry);
void registerControlOps(Registry &registry);
void registerContractionOps(Registry &registry);
void registerElementwiseOps(Registry &registry);
void registerIndexingOps(Registry &registry);
void registerLossOps(Registry &registry);
void registerNormalizationOps(Registry &registry);
void registerPadOps(Registry &registry);
void registerRandomOps(Registry &registry);
void registerRecurrentOps(Registry &registry);
void registerReductionOps(Registry &registry);
void registerResizeOps(Registry &registry);
void registerSequenceOps(Registry &registry);
void registerShapeOps(Registry &registry);
void registerSpatialOps(Registry &registry);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_REGISTRY_H
