#ifndef DPC_RECORD_WRITEOBJECT_H
#define DPC_RECORD_WRITEOBJECT_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace dpc {

/// Compiles `module` to a position-independent object file for the baseline instruction set of the
/// host. The module has the program's constant data and the functions that call its kernels.
llvm::Error writeObject(llvm::Module &module, llvm::raw_pwrite_stream &stream);

} // namespace dpc

#endif // DPC_RECORD_WRITEOBJECT_H
