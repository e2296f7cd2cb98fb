#include "record/WriteObject.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

Error dpc::writeObject(Module &module, raw_pwrite_stream &stream) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  std::string triple = sys::getDefaultTargetTriple(), error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("cannot generate code for " + triple + ": " + error);
  // The module has no kernels, only long functions that call them. Optimization would not
  // make a program faster, and the time of register allocation grows with the square of a
  // function's length. So nothing is optimized.
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, /*CPU=*/"", /*Features=*/"", {}, Reloc::PIC_, std::nullopt, CodeGenOptLevel::None));
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(triple);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("cannot write an object file for " + triple);
  passes.run(module);
  return Error::success();
}
