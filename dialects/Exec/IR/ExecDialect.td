#ifndef DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD
#define DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD

include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::dpc::exec";
  let summary = "The explicit, ordered form of a program: buffers, launches, communication";
  let description = [{
    A program in this dialect is the ordered list of actions that one rank performs.
    Every tensor has become a buffer: a memref that lies in one of the runtime's
    address spaces. Its byte offset is known once memory is planned. The ops have side
    effects, so passes keep their order.

    A module at this level holds

    * one `exec.persistent` for each persistent buffer, which lives as long as the
      program: state, inputs, controls, metrics, outputs;
    * one `exec.entry` for each function that the host can call (@step, @eval,
      @infer), with the actions in order;
    * one private `func.func` for each distinct kernel, with tensor types and a single
      `nn.kernel` or `nn.update`, from which its code is generated;
    * `nn.variable` ops with the initial values of state.

    Modules of two levels are in this dialect. At level `scheduled`, tensors have
    become buffers and the order of actions is known. At level `exec`, offsets are
    fixed and launches are joined into `exec.function`s. The folder `record` emits the
    program record from a module of level `exec`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::dpc::nn::NNDialect", "::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    /// Name of the attribute of a kernel's func.func that says how many bytes of
    /// scratch memory the kernel needs.
    static constexpr ::llvm::StringLiteral kScratchBytesAttrName = "exec.scratch_bytes";
    /// Name of the attribute of a kernel's func.func that lists for each result the
    /// operands whose buffer the result may share. Its value is an array with one
    /// DenseI64ArrayAttr per result.
    static constexpr ::llvm::StringLiteral kMayAliasAttrName = "exec.may_alias";
    /// Name of the attribute of a kernel's func.func that lists the launches of the
    /// kernel, on targets whose kernels are grids of threads. Its value is an array
    /// of GridAttr.
    static constexpr ::llvm::StringLiteral kLaunchesAttrName = "exec.launches";
    /// Name of the nested module that holds the generated code of all kernels.
    static constexpr ::llvm::StringLiteral kCodeModuleName = "code";
    /// Name of the module attribute that says how many bytes each space of a rank has
    /// (MemoryAttr).
    static constexpr ::llvm::StringLiteral kMemoryAttrName = "exec.memory";
    /// Name of the module attribute that divides a rank's memory by purpose
    /// (MemoryUseAttr).
    static constexpr ::llvm::StringLiteral kMemoryUseAttrName = "exec.memory_use";
    /// Name of the module attribute that says how many bytes are live at certain
    /// moments of a step (LiveBytesAttr).
    static constexpr ::llvm::StringLiteral kLiveBytesAttrName = "exec.live_bytes";
    /// Name of the attribute of an exec.buffer or exec.start that holds a
    /// PurposeAttr.
    static constexpr ::llvm::StringLiteral kPurposeAttrName = "exec.purpose";
  }];
}

#endif // DPC_DIALECTS_EXEC_IR_EXECDIALECT_TD
