#ifndef DPC_PLANNING_FACTORFORM_H
#define DPC_PLANNING_FACTORFORM_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace dpc {

/// The form in which products and convolutions of f32 multiply their factors. Some devices have
/// fast units for numbers of tf32, which have a mantissa of 10 bits.
enum class FactorForm {
  whole,   ///< f32 numbers
  rounded, ///< numbers of tf32, to which factors are rounded
  split    ///< sums of two numbers of tf32, with almost the precision of f32
};

/// The name that options and attributes use: f32, tf32 or tf32x3.
llvm::StringRef nameOf(FactorForm form);
/// The form whose name is `name`; nullopt if there is none.
std::optional<FactorForm> parseFactorForm(llvm::StringRef name);

} // namespace dpc

#endif // DPC_PLANNING_FACTORFORM_H
