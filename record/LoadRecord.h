#ifndef DPC_RECORD_LOADRECORD_H
#define DPC_RECORD_LOADRECORD_H

#include "dpc/program.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace dpc {

/// The program record of an object file that was written, in memory as a linked
/// program has it, so that it can be read before there is a program. What the
/// object only declares (kernels, initial values), and code, has an address at
/// which nothing is.
class LoadedRecord {
public:
  /// Fails for a file without the symbol `dpc_program`, or that is no object of
  /// this machine.
  static llvm::Expected<std::unique_ptr<LoadedRecord>> load(llvm::MemoryBufferRef object);

  const dpc_program_t &getProgram() const { return *program; }

private:
  LoadedRecord() = default;

  std::vector<std::unique_ptr<char[]>> memory;
  const dpc_program_t *program = nullptr;
};

} // namespace dpc

#endif // DPC_RECORD_LOADRECORD_H
