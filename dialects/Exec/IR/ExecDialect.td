#ifndef DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD
#define DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD

include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::dpc::exec";
  let summary = "The explicit, ordered form of a program: buffers, launches, communication";
  let description = [{
    What one rank does, in order. A tensor has become a buffer: a memref that
    lies in one of the runtime's address spaces, at a byte offset once memory is
    planned. Ops have side effects and stay in their order.

    A module at this level holds

    * one `exec.persistent` for each persistent buffer, which lives as long as the
      program: state, inputs, controls, metrics, outputs;
    * one `exec.entry` for each thing the program can be asked to do (@step,
      @eval, @infer), with the actions in order;
    * one private `func.func` for each distinct kernel, of tensors, with a single
      `nn.kernel` or `nn.update`: what code is generated from;
    * `nn.variable` ops with the initial values of state.

    Levels `scheduled` (buffers and order) and `exec` (launches joined into
    `exec.function`s, offsets fixed) consist of it; the program record is emitted
    from it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::dpc::nn::NNDialect", "::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    /// Name of the attribute of a kernel's func.func with its scratch bytes.
    static constexpr ::llvm::StringLiteral kScratchBytesAttrName = "exec.scratch_bytes";
    /// Name of the attribute of a kernel's func.func with, for each result, the
    /// operands whose buffer it may share: an array of DenseI64ArrayAttr.
    static constexpr ::llvm::StringLiteral kMayAliasAttrName = "exec.may_alias";
    /// Name of the attribute of a kernel's func.func with its launches, where
    /// kernels are grids of threads: an array of GridAttr.
    static constexpr ::llvm::StringLiteral kLaunchesAttrName = "exec.launches";
    /// Name of the nested module with the generated code.
    static constexpr ::llvm::StringLiteral kCodeModuleName = "code";
    /// Name of the module attribute with the bytes of each space of a rank.
    static constexpr ::llvm::StringLiteral kMemoryAttrName = "exec.memory";
    /// Name of the module attribute with what the memory of a rank is for.
    static constexpr ::llvm::StringLiteral kMemoryUseAttrName = "exec.memory_use";
    /// Name of the module attribute with what is live at moments of a step.
    static constexpr ::llvm::StringLiteral kLiveBytesAttrName = "exec.live_bytes";
    /// Name of the attribute of an exec.buffer or exec.start that holds a
    /// PurposeAttr.
    static constexpr ::llvm::StringLiteral kPurposeAttrName = "exec.purpose";
  }];
}

#endif // DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD
