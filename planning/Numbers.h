// Numbers of machines in messages.

#ifndef DPC_PLANNING_NUMBERS_H
#define DPC_PLANNING_NUMBERS_H

#include "planning/PlanError.h"

#include <string>

namespace dpc {

/// The number with at most six digits: "1e+12", "1.5", "0".
std::string numberText(double number);

/// Fails if `value`, which is the `what` of `owner`, is not finite or is below 0, or is 0 unless
/// `mayBeZero`.
llvm::Error checkNumber(llvm::StringRef owner, llvm::StringRef what, double value, bool mayBeZero);

} // namespace dpc

#endif // DPC_PLANNING_NUMBERS_H
