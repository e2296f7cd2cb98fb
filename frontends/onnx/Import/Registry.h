// The table of imported ONNX operators, with the converter of each.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_REGISTRY_H
#define DPC_FRONTENDS_ONNX_IMPORT_REGISTRY_H

#include "frontends/onnx/Import/Conversion.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dpc::onnx {

/// Maps operators of domain ai.onnx, by name, to their converters. Schema says
/// which operators exist at an opset and which nodes are valid.
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

/// Fails if `registry` or ONNX lacks an operator of `graph`; the one error lists every
/// such (operator, opset, node). If no operator is missing, fails for the first node that
/// does not fit its schema. checkModel cannot check nodes of functions completely,
/// because their inputs and attributes are bound when the functions are inlined.
llvm::Error checkOperators(const Graph &graph, const Registry &registry);

// One function per op family, defined in Ops/<Family>.cpp.
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
