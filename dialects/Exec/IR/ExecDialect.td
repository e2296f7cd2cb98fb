#ifndef DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD
#define DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD

include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::dpc::exec";
  let summary = "The explicit, ordered form of a program: buffers, launches, communication";
  let description = [{
    The ordered actions of one rank. Tensors have become buffers: memrefs in one of
    the runtime's address spaces, at a byte offset once memory is planned. Ops have
    side effects and keep their order.

    A module at this level holds

    * one `exec.persistent` for each persistent buffer, which lives as long as the
      program: state, inputs, controls, metrics, outputs;
    * one `exec.entry` for each function that the host can call (@step, @eval,
      @infer), with the actions in order;
    * one private `func.func` for each distinct kernel, with tensor types and a single
      `nn.kernel` or `nn.update`, from which its code is generated;
    * `nn.variable` ops with the initial values of state.

    Modules at levels `scheduled` (buffers, and the order of actions) and `exec`
    (launches are joined into `exec.function`s, and offsets are fixed) are in this
    dialect. The program record is emitted from it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::dpc::nn::NNDialect", "::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    /// Name of the attribute of a kernel's func.func with its scratch bytes.
    static constexpr ::llvm::StringLiteral kScratchBytesAttrName = "exec.scratch_bytes";
    /// Name of the attribute of a kernel's func.func that lists, for each result,
    /// the operands whose buffer it may share: an array of DenseI64ArrayAttr.
    static constexpr ::llvm::StringLiteral kMayAliasAttrName = "exec.may_alias";
    /// Name of the attribute of a kernel's func.func with its launches, if kernels
    /// are grids of threads: an array of GridAttr.
    static constexpr ::llvm::StringLiteral kLaunchesAttrName = "exec.launches";
    /// Name of the nested module with the generated code.
    static constexpr ::llvm::StringLiteral kCodeModuleName = "code";
    /// Name of the module attribute with the bytes of each space of a rank.
    static constexpr ::llvm::StringLiteral kMemoryAttrName = "exec.memory";
    /// Name of the module attribute with the memory of a rank by purpose.
    static constexpr ::llvm::StringLiteral kMemoryUseAttrName = "exec.memory_use";
    /// Name of the module attribute with the live bytes at certain moments of a
    /// step.
    static constexpr ::llvm::StringLiteral kLiveBytesAttrName = "exec.live_bytes";
    /// Name of the attribute of an exec.buffer or exec.start that holds a
    /// PurposeAttr.
    static constexpr ::llvm::StringLiteral kPurposeAttrName = "exec.purpose";
  }];
}

#endif // DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD
