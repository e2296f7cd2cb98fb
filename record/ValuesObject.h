#ifndef DPC_RECORD_VALUESOBJECT_H
#define DPC_RECORD_VALUESOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc {

/// Constant data of a program that is not in its LLVM module: an initial value of state, e.g. of a
/// parameter, which may have gigabytes. The LLVM module declares it as `symbol`.
struct OutsideValue {
  std::string symbol;
  /// The bytes of the value, in memory of the MLIR module.
  llvm::StringRef bytes;
};

/// Writes an ELF object file that defines the symbols of the values. The symbols are hidden,
/// and their data is read-only and aligned to 64 bytes. This function writes the data
/// directly to the file, whereas LLVM would copy it four times. Fails unless `triple` is for x86-64
/// or AArch64, with little-endian ELF object files.
llvm::Error writeValuesObject(llvm::ArrayRef<OutsideValue> values, llvm::StringRef triple,
                              llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_RECORD_VALUESOBJECT_H
