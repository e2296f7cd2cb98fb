// Makes a template of the ONNX file, into which --save-onnx writes trained values.

#ifndef DPC_FRONTENDS_ONNX_MODEL_SAVETEMPLATE_H
#define DPC_FRONTENDS_ONNX_MODEL_SAVETEMPLATE_H

#include "frontends/onnx/Model/Load.h"
#include "frontends/onnx/Model/ShardingSpecs.h"
#include "frontends/onnx/Model/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace dpc::onnx {

/// The position in a template at which the elements of one initializer must be inserted.
struct TemplateHole {
  std::string name;
  /// The number of bytes of the template that come before the hole.
  uint64_t offset = 0;
  /// Elements in the file: row-major, little-endian.
  ElementType type = ElementType::F32;
  uint64_t bytes = 0;
};

/// An ONNX file without the elements of some initializers. The file consists of the
/// template's bytes with each hole's elements inserted at its offset. Holes are
/// sorted by offset.
struct SaveTemplate {
  std::string bytes;
  std::vector<TemplateHole> holes;
  /// Size of the file.
  uint64_t fileBytes = 0;
};

/// Largest file that protobuf reads.
constexpr uint64_t kMaxModelBytes = (uint64_t(1) << 31) - 1;

/// The template of `model` with a hole for each initializer that `isState` accepts.
/// External data moves into the file. BatchNormalization and Dropout nodes in training
/// mode become nodes in inference mode, so that any runtime can run the result. If `plan`
/// has more than one device, its specs replace the sharding specs of the file. Errors
/// name the tensor.
llvm::Expected<SaveTemplate> buildSaveTemplate(OnnxModel &model,
                                               llvm::function_ref<bool(llvm::StringRef)> isState,
                                               const SpecPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_SAVETEMPLATE_H
