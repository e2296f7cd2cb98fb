#ifndef DPC_RECORD_VALUESOBJECT_H
#define DPC_RECORD_VALUESOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc {

/// Constant data of a program outside of its LLVM module: initial values of
/// parameters, which may take gigabytes. The module declares it under the name
/// `symbol`.
struct OutsideValue {
  std::string symbol;
  /// The bytes belong to the MLIR module.
  llvm::StringRef bytes;
};

/// Writes an ELF object file that defines the symbols, hidden, each aligned to
/// 64 bytes in read-only memory. LLVM would copy the data four times, whereas
/// this function writes it directly from its place to the file. Fails for a
/// machine whose object files are not 64-bit ELF.
llvm::Error writeValuesObject(llvm::ArrayRef<OutsideValue> values, llvm::StringRef triple,
                              llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_RECORD_VALUESOBJECT_H
