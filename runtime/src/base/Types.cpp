#include "dpc/types.h"

namespace {
struct TypeInfo {
  const char *name;
  uint32_t size;
};
constexpr TypeInfo kTypes[DPC_DTYPE_COUNT] = {
    {"invalid", 0}, {"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}, {"i64", 8}, {"i32", 4},
    {"i16", 2},     {"i8", 1},  {"u64", 8}, {"u32", 4}, {"u16", 2},  {"u8", 1},  {"bool", 1}};
} // namespace

extern "C" uint32_t dpc_dtype_size(uint32_t dtype) {
  return dtype < DPC_DTYPE_COUNT ? kTypes[dtype].size : 0;
}

extern "C" const char *dpc_dtype_name(uint32_t dtype) {
  return kTypes[dtype < DPC_DTYPE_COUNT ? dtype : 0].name;
}
