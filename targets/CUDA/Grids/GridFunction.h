#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDFUNCTION_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDFUNCTION_H

#include "targets/CUDA/Grids/GridEmitter.h"
#include "targets/CUDA/Grids/GridPlan.h"
#include "targets/Loops/Kernels/KernelMemory.h"
#include "targets/Target.h"

namespace dpc {

/// Emits the launches of one kernel (Target::emitKernel). Each launch has a
/// function, its entry, which a grid of threads runs. The entries are named
/// `symbol`_0, `symbol`_1, .. The arguments of an entry are the buffers that it
/// uses.
class GridFunction {
public:
  GridFunction(const KernelGraph &graph, const GridPlan &plan, GridEmitter &emitter,
               mlir::ModuleOp module, llvm::StringRef symbol)
      : graph(graph), plan(plan), e(emitter), module(module), symbol(symbol),
        memory(graph, plan.places, emitter, module, symbol) {}

  mlir::FailureOr<KernelCode> emit();

private:
  struct Entry {
    mlir::LLVM::LLVMFuncOp function;
    int64_t blocks, threads;
    std::optional<LibraryCall> call;
    bool isLone = false;
    int64_t sharedBytes = 0;
    std::string ops;
  };

  void beginEntry(const Launch &launch);
  void endEntry();
  mlir::LogicalResult emitLaunch(const Launch &launch, unsigned ordinal);
  void placeValue(mlir::Value value, const Launch &launch);
  void emitCopy(mlir::Value value, unsigned result, unsigned ordinal);
  LibraryCall placeCall(const PlannedCall &call, const ScratchPiece &workspace);
  std::string opsOf(const Launch &launch) const;
  KernelLaunch finish(Entry &entry);

  const KernelGraph &graph;
  const GridPlan &plan;
  GridEmitter &e;
  mlir::ModuleOp module;
  llvm::StringRef symbol;
  KernelMemory memory;
  std::vector<Entry> entries;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDFUNCTION_H
