#ifndef DPC_TEST_CUDA_EMULATOR_PTX_COMPILE_H
#define DPC_TEST_CUDA_EMULATOR_PTX_COMPILE_H

#include "test/cuda_emulator/execution/Context.h"
#include "test/cuda_emulator/ptx/Ptx.h"

#include <memory>
#include <mutex>

namespace llvm::orc {
class LLJIT;
}

namespace dpc::emulator {

/// A PTX module whose kernels are compiled for the host when they are first
/// asked for. Code goes to DPC_EMU_CACHE, which many processes may share.
class CompiledModule {
public:
  /// Reads `text`; `variables` gets the address of each module variable from
  /// `allocate`. Throws PtxError.
  CompiledModule(std::string text, uint64_t (*allocate)(const Variable &));
  ~CompiledModule();

  /// The kernel of that name; nullptr if there is none. Throws PtxError for an
  /// instruction that is not known.
  const Kernel *find(const std::string &name);
  const std::vector<uint64_t> &variableAddresses() const { return variables; }

private:
  void compile(const KernelText &text, Kernel &kernel);

  std::string text;
  ModuleText module;
  std::vector<uint64_t> variables;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_PTX_COMPILE_H
