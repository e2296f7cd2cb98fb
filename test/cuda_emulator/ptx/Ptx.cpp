// Types of PTX by their names.
#include "test/cuda_emulator/ptx/Ptx.h"

#include <algorithm>
#include <map>

using namespace dpc::emulator;

bool dpc::emulator::parseType(std::string_view name, PtxType &type) {
  using T = PtxType;
  static const std::map<std::string_view, PtxType> types = {
      {"pred", {T::predicate, 1}},
      {"b8", {T::bits, 8}},
      {"u8", {T::unsignedInteger, 8}},
      {"s8", {T::signedInteger, 8}},
      {"b16", {T::bits, 16}},
      {"u16", {T::unsignedInteger, 16}},
      {"s16", {T::signedInteger, 16}},
      {"f16", {T::real, 16}},
      {"bf16", {T::bfloat, 16}},
      {"b32", {T::bits, 32}},
      {"u32", {T::unsignedInteger, 32}},
      {"s32", {T::signedInteger, 32}},
      {"f32", {T::real, 32}},
      {"tf32", {T::real, 32}},
      {"b64", {T::bits, 64}},
      {"u64", {T::unsignedInteger, 64}},
      {"s64", {T::signedInteger, 64}},
      {"f64", {T::real, 64}},
      {"f16x2", {T::realPair, 32}},
      {"bf16x2", {T::bfloatPair, 32}},
  };
  auto found = types.find(name);
  if (found == types.end())
    return false;
  type = found->second;
  return true;
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}
