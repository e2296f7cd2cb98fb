// The engines of the emulated cuDNN, and their plans. The heuristics propose engines first that a
// careful caller must refuse.
#include "test/cuda_emulator/cudnn/Engines.h"

#include "test/cuda_emulator/base/Options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dpc::cuda;
using namespace dpc::emulator;

using Note = DnnNumericalNote;

static const DnnEngine kEngines[] = {
    {DnnEngine::plain, {}, {}, 2},
    {DnnEngine::atomic, {Note::nondeterministic}, {}, 1},
    {DnnEngine::units, {Note::tensorCore}, {}, 2},
    {DnnEngine::narrowSums, {Note::tensorCore, Note::reducedPrecisionReduction}, {}, 1},
    {DnnEngine::compiled, {}, {DnnBehaviorNote::runtimeCompilation}, 1},
    {DnnEngine::narrowFactors, {Note::downConvertInputs}, {}, 1},
};

const DnnEngine &DnnPlan::getEngine() const { return kEngines[engine]; }

static bool isNarrow(DnnDataType type) { return bytesOf(type) == 2; }

static bool isSupported(const DnnEngine &engine, const DnnConvolution &c) {
  const DnnDataType type = c.tensors[kDnnX].type;
  for (const DnnTensor &tensor : c.tensors)
    if (tensor.type != type)
      return false;
  for (int i = 0; i < 3; ++i)
    if (c.padLow[i] != c.padHigh[i] && engine.index != DnnEngine::plain)
      return false;
  if ((type == DnnDataType::f64) != (c.compute == DnnDataType::f64))
    return false;
  switch (engine.index) {
  case DnnEngine::units:
    return type != DnnDataType::f64;
  case DnnEngine::narrowSums:
    return isNarrow(type);
  case DnnEngine::narrowFactors:
    return type == DnnDataType::f32;
  default:
    return true;
  }
}

/// Matrix units read channels-last tensors. Others are copied.
uint64_t DnnPlan::getWorkspace() const {
  uint64_t bytes = 512;
  if (engine == DnnEngine::units)
    for (const DnnConvolution &c : operations)
      for (const DnnTensor &tensor : c.tensors)
        if (tensor.strides[1] != 1)
          bytes += static_cast<uint64_t>(tensor.elements()) * bytesOf(tensor.type);
  return bytes;
}

DnnRounding DnnPlan::getRounding() const {
  static double runs = 0;
  DnnRounding rounding;
  const bool isF32 = operations[0].tensors[kDnnX].type == DnnDataType::f32;
  rounding.toTf32 = engine == DnnEngine::narrowFactors || (engine == DnnEngine::units && isF32);
  rounding.toBf16 = engine == DnnEngine::narrowSums;
  if (engine == DnnEngine::atomic)
    rounding.noise = 1e-3 * ++runs;
  if (engine == DnnEngine::compiled)
    fail("an engine that needs a compiler was run");
  return rounding;
}

std::vector<DnnPlan> dpc::emulator::propose(const std::vector<DnnConvolution> &operations,
                                            DnnHeuristicMode mode) {
  std::vector<int> order = {DnnEngine::plain};
  if (mode == DnnHeuristicMode::a)
    order = {DnnEngine::atomic,   DnnEngine::narrowSums, DnnEngine::narrowFactors,
             DnnEngine::compiled, DnnEngine::units,      DnnEngine::plain};
  else if (mode == DnnHeuristicMode::b)
    order = {DnnEngine::units, DnnEngine::atomic, DnnEngine::plain};
  std::vector<DnnPlan> plans;
  for (int index : order) {
    const DnnEngine &engine = kEngines[index];
    bool isKnown = true;
    for (const DnnConvolution &c : operations)
      isKnown &= isSupported(engine, c);
    for (int64_t setting = 0; isKnown && setting < engine.settings; ++setting)
      plans.push_back({index, setting, operations});
  }
  return plans;
}

std::string DnnPlan::getText() const {
  std::string text = "{\"engine\":" + std::to_string(engine) +
                     ",\"setting\":" + std::to_string(setting) + ",\"operations\":\"";
  const auto *bytes = reinterpret_cast<const unsigned char *>(operations.data());
  for (size_t i = 0; i < operations.size() * sizeof(DnnConvolution); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text + "\"}";
}

std::optional<DnnPlan> dpc::emulator::parsePlan(const std::string &text) {
  DnnPlan plan;
  long long engine = 0, setting = 0;
  int at = 0;
  if (std::sscanf(text.c_str(), "{\"engine\":%lld,\"setting\":%lld,\"operations\":\"%n", &engine,
                  &setting, &at) != 2 ||
      at == 0 || engine < 0 || engine >= int64_t(std::size(kEngines)) || setting < 0 ||
      setting >= kEngines[engine].settings)
    return std::nullopt;
  const size_t end = text.find("\"}", static_cast<size_t>(at)), begin = static_cast<size_t>(at);
  if (end == std::string::npos || end == begin || end + 2 != text.size() ||
      (end - begin) % (2 * sizeof(DnnConvolution)) != 0)
    return std::nullopt;
  plan.engine = engine;
  plan.setting = setting;
  plan.operations.resize((end - begin) / (2 * sizeof(DnnConvolution)));
  auto *bytes = reinterpret_cast<unsigned char *>(plan.operations.data());
  for (size_t i = begin; i < end; i += 2)
    bytes[(i - begin) / 2] =
        static_cast<unsigned char>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16));
  return plan;
}
