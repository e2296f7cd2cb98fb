//===- Registry.h - the operators that dpc imports ------------------------===//

#ifndef DPC_FRONTENDS_ONNX_REGISTRY_H
#define DPC_FRONTENDS_ONNX_REGISTRY_H

#include "frontends/onnx/Check.h"
#include "frontends/onnx/Conversion.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dpc::onnx {

/// One operator over a range of opsets: how many operands and results a node
/// may have, and what makes nn ops of it.
struct OperatorEntry {
  static constexpr unsigned kAny = 1u << 20;
  llvm::StringRef name;
  ConvertFn convert = nullptr;
  unsigned minOperands = 1, maxOperands = 1, maxResults = 1;
  int64_t since = kMinOpset, until = kMaxOpset;
};

/// All operators of domain ai.onnx, by name and opset.
class Registry {
public:
  /// The registry with every family of Ops/.
  static const Registry &get();

  void add(OperatorEntry entry) { entries[entry.name].push_back(entry); }
  /// The entry for `name` at `opset`, or nullptr.
  const OperatorEntry *find(llvm::StringRef name, int64_t opset) const;

private:
  llvm::StringMap<std::vector<OperatorEntry>> entries;
};

/// Whether the standard defines operator `name` for floats alone, as far as its
/// first operand is concerned. What is made of it need not know integers.
bool isFloatOperator(llvm::StringRef name);

/// Fails with one error that lists every (operator, opset, node) of `graph`
/// that `registry` has not, or else with the first node whose number of
/// operands or results its operator does not allow.
llvm::Error checkOperators(const Graph &graph, const Registry &registry);

// One function an op family, defined in Ops/<Family>.cpp.
void registerActivationOps(Registry &registry);
void registerAttentionOps(Registry &registry);
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

#endif // DPC_FRONTENDS_ONNX_REGISTRY_H
