#ifndef DPC_RECORD_LOADRECORD_H
#define DPC_RECORD_LOADRECORD_H

#include "dpc/program.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace dpc {

/// The program record of an object file, loaded into memory in the form that it will have
/// in a linked program. So dpc-compile can check the record before it links the program.
/// Pointers to code, and to symbols that the object only declares (kernels, initial
/// values), point to a dummy address.
class LoadedRecord {
public:
  /// Fails if the file lacks the symbol `dpc_program`, or is not an ELF object file with pointers
  /// of the size that this machine has. Also fails if the data has a relocation that is not a plain
  /// pointer.
  static llvm::Expected<std::unique_ptr<LoadedRecord>> load(llvm::MemoryBufferRef object);

  const dpc_program_t &getProgram() const { return *program; }

private:
  LoadedRecord() = default;

  std::vector<std::unique_ptr<char[]>> memory;
  const dpc_program_t *program = nullptr;
};

} // namespace dpc

#endif // DPC_RECORD_LOADRECORD_H
