#ifndef DPC_RECORD_VALUESOBJECT_H
#define DPC_RECORD_VALUESOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc {

/// Constant data of a program that lies outside its LLVM module: first values
/// of parameters, which may be gigabytes. `symbol` is what the module calls it.
struct OutsideValue {
  std::string symbol;
  /// They belong to the MLIR module.
  llvm::StringRef bytes;
};

/// Writes an ELF object file that defines the symbols, hidden, each at a
/// multiple of 64 in read-only memory. LLVM would copy the data four times on
/// the way; here it goes from where it is into the file. Fails for a machine
/// whose objects are not ELF of 64 bits.
llvm::Error writeValuesObject(llvm::ArrayRef<OutsideValue> values, llvm::StringRef triple,
                              llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_RECORD_VALUESOBJECT_H
