// The model that trained values are written into.

#ifndef DPC_FRONTENDS_ONNX_MODEL_SAVETEMPLATE_H
#define DPC_FRONTENDS_ONNX_MODEL_SAVETEMPLATE_H

#include "frontends/onnx/Model/Load.h"
#include "frontends/onnx/Model/ShardingSpecs.h"
#include "frontends/onnx/Model/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace dpc::onnx {

/// A place in a template where the elements of one initializer belong.
struct TemplateHole {
  std::string name;
  /// Bytes of the template that come before it.
  uint64_t offset = 0;
  /// Elements in the file: row-major, little-endian.
  ElementType type = ElementType::F32;
  uint64_t bytes = 0;
};

/// An ONNX file without the elements of some initializers. The file is the
/// template's bytes with each hole's elements put in at its offset; holes are
/// in the order of their offsets.
struct SaveTemplate {
  std::string bytes;
  std::vector<TemplateHole> holes;
  /// Size of the file.
  uint64_t fileBytes = 0;
};

/// Largest file that protobuf reads.
constexpr uint64_t kMaxModelBytes = (uint64_t(1) << 31) - 1;

/// The template of `model` with a hole for each initializer that `isState`
/// names. External data moves into the file, and ops in their training form
/// (BatchNormalization, Dropout) take their inference form, so that any runtime
/// can run the result. `plan`, unless it is for one device, takes the place of any
/// sharding specs. Errors name the tensor.
llvm::Expected<SaveTemplate> buildSaveTemplate(OnnxModel &model,
                                               llvm::function_ref<bool(llvm::StringRef)> isState,
                                               const SpecPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_SAVETEMPLATE_H
