#ifndef DPC_PASSES_VERIFY_PASSES_TD
#define DPC_PASSES_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

// The contracts of the levels (docs/contracts.md). None of these passes changes
// anything; each fails with an error on the op that breaks its level's contract.

def VerifyImport : Pass<"dpc-verify-import", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `import`";
  let description = [{
    * (L1) The module holds one function, @forward, and `nn.variable`s.
    * (L2) The function consists of `nn` ops, none of them formed by later levels
      (`nn.kernel`, `nn.update`), and every op but constants has a location.
    * (L3) Every argument has an `#nn.arg` and every result an `#nn.result`, each
      name once a kind; no result is a gradient.
    * (L4) Every parameter, buffer and constant has an `nn.variable` of its name
      and type; every variable belongs to an argument.

    ```mlir
    func.func @forward(%w: tensor<2xf32>) -> ...
    // error: level 'import': argument 0 of @forward has no nn.arg
    ```
  }];
}

def VerifyStep : Pass<"dpc-verify-step", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `step`";
  let description = [{
    * (L1) The module holds @step and @eval, or @infer alone, and `nn.variable`s.
    * (L2) The functions consist of `nn` ops without side effects, none with a
      training form, and every op but constants has a location.
    * (L3) Every argument has an `#nn.arg` and every result an `#nn.result`; no
      result is a gradient.
    * (L4) Every piece of state has an `nn.variable` of its name and type.
    * (L5) A result that is state has the name and the type of a trained
      parameter, a buffer or an optimizer's state among the arguments; nothing is
      given twice, and @eval and @infer give none.
    * (L6) With @step the module has the schedule of the learning rate.

    ```mlir
    func.func @step(...) -> (tensor<2xf32> {nn.result = #nn.result<gradient "w">})
    // error: level 'step': result 0 of @step is still the gradient of 'w'
    ```
  }];
}

def VerifyPlaced : Pass<"dpc-verify-placed", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `placed`";
  let description = [{
    * (L1) The module has one `dist.mesh`.
    * (L2) Every argument, and every operand and result of every op, has a layout
      of its shape that is sound on the mesh.
    * (L3) An op reads a value in the layout in which it was made: every change
      is a `dist.reshard`.
    * (L4) The cuts of the loops that an op shares between its operands and
      results agree (`ShardableOpInterface`): a loop that is a whole dimension of
      one and of another is cut by the same axes in both; an axis that cuts a
      loop in no result is partial in every result.
    * (L5) State is whole over sequential axes and never partial.

    ```mlir
    %0 = nn.add %x, %y {dist.operands = [#dist.layout<"[(8: data)]">, #dist.layout<"[8]">], ...}
    // error: level 'placed': loop 0 is cut by (data) in operand 0 and by () in operand 1
    ```
  }];
}

def VerifyLocal : Pass<"dpc-verify-local", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `local`";
  let description = [{
    * (L1) The module has one `dist.mesh`; the functions consist of `nn` ops,
      collectives and microbatch loops: no `dist.reshard`, and no layouts but
      those of arguments.
    * (L2) Arguments have the shapes that their layouts leave one device.
    * (L3) All ranks run the same ops: regions are those of kernels, updates and
      `dist.micro`, whose counts are the mesh's. So each group of devices sees one
      sequence of collectives on all its members, and no two groups wait for each
      other.
    * (L4) `dist.axis_index` names an axis of the mesh, a sequential one only
      inside its loop.

    ```mlir
    %1 = dist.reshard %0 ...
    // error: level 'local': holds a reshard
    ```
  }];
}

def VerifyScheduled : Pass<"dpc-verify-scheduled", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `scheduled`";
  let description = [{
    Plays every entry, all turns of its loops included, and follows which buffer
    each byte belongs to (BufferContents.h). Independent of how memory was planned.

    * (L1) Every buffer has an offset and lies inside its space as the module's
      `exec.memory` gives it.
    * (L2) What an op reads was written under that buffer's name before (state
      and inputs from outside), and by nothing else since. A collective may move
      bytes that nobody reads afterwards: those between the parts of a bucket.
    * (L3) A result lies on an operand only where the kernel computes in place;
      results and scratch memory lie apart.
    * (L4) Every start has one wait, in the same block and behind it. In between
      nothing writes what the collective reads nor touches what it writes.

    ```mlir
    %e = exec.start all_reduce ... %0 to %0 ...
    exec.launch @k(%0) into (%1)
    // error: level 'scheduled': reads bytes [0, 16) of arena while the collective at ... writes them
    ```
  }];
}

def VerifyExec : Pass<"dpc-verify-exec", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `exec`";
  let description = [{
    * (L1) Entries consist of what the action table can say: calls of functions,
      starts, waits, loops, zeros and inputs; launches stand in functions alone.
    * (L2) Every function is called, and once: its place in the order is that of
      its call.
    * (L3) Kernels have code: a symbol of their name in the module @code.

    ```mlir
    exec.entry @step { exec.launch @k(%0) into (%0) ... }
    // error: level 'exec': is no action
    ```
  }];
}

#endif // DPC_PASSES_VERIFY_PASSES_TD
