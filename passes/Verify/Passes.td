#ifndef DPC_PASSES_VERIFY_PASSES_TD
#define DPC_PASSES_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

// The contracts of the levels (docs/contracts.md). None of these passes changes
// anything; each fails with an error on the op that breaks its level's contract.

def VerifyBodies : Pass<"dpc-verify-bodies", "mlir::ModuleOp"> {
  let summary = "Checks that every function has a body";
  let description = [{
    Every pass relies on it, so `dpc-opt` runs this one before all others; nothing
    that dpc makes lacks a body.

    ```mlir
    func.func private @forward(tensor<2xf32>)
    // error: @forward has no body
    ```
  }];
}

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
    func.func @forward(%w: tensor<2xf32>) {
      return
    }
    // error: level 'import': argument 0 of @forward has no nn.arg
    ```
  }];
}

def VerifyStep : Pass<"dpc-verify-step", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `step`";
  let description = [{
    * (L1) The module holds @step and @eval, or @infer alone, and `nn.variable`s.
    * (L2) The functions consist of `nn` ops without side effects, none with a
      training form, none that differs from its operand in the gradient alone, and
      every op but constants has a location.
    * (L3) Every argument has an `#nn.arg` and every result an `#nn.result`; no
      result is a gradient.
    * (L4) Every piece of state has an `nn.variable` of its name and type.
    * (L5) A result that is state has the name and the type of a trained
      parameter, a buffer or an optimizer's state among the arguments; nothing is
      given twice, and @eval and @infer give none.
    * (L6) With @step the module has the schedule of the learning rate.

    ```mlir
    module attributes {nn.learning_rate = #nn.learning_rate<base = 0.1 : f64, decay = constant,
        warmup = 0, total = 0, minimum = 0.0 : f64>} {
      func.func @step(%w: tensor<2xf32> {nn.arg = #nn.arg<parameter "w">})
          -> (tensor<2xf32> {nn.result = #nn.result<gradient "w">}) {
        return %w : tensor<2xf32>
      }
      func.func @eval() {
        return
      }
    }
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
    * (L4) An op's layouts agree on how its loops (`ShardableOpInterface`) are cut:
      a loop that is a whole dimension of two operands or results is cut by the
      same axes in both, and an axis that cuts a loop which no result has is
      partial in every result.
    * (L5) State is replicated over sequential axes and never partial.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @infer(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[(8: data)]">},
                     %y: tensor<8xf32> {nn.arg = #nn.arg<input "y">, dist.layout = #dist.layout<"[8]">}) {
      %0 = nn.add %x, %y {
          dist.operands = [#dist.layout<"[(8: data)]">, #dist.layout<"[8]">],
          dist.results = [#dist.layout<"[(8: data)]">]
      } : tensor<8xf32>
      return
    }
    // error: level 'placed': loop 0 is cut as [(8: data)] in operand 0 and as [8] in operand 1
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
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @infer(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[8]">}) {
      %0 = dist.reshard %x from <"[8]"> to <"[(8: data)]"> : tensor<8xf32>
      return
    }
    // error: level 'local': holds a reshard
    ```
  }];
}

def VerifyScheduled : Pass<"dpc-verify-scheduled", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `scheduled`";
  let description = [{
    Plays every entry, all iterations of its loops included, and follows which
    buffer each byte belongs to (BufferContents.h). It knows nothing of the plans
    that placed and ordered the buffers.

    * (L1) Every buffer has an offset and lies inside its space as the module's
      `exec.memory` gives it.
    * (L2) What an op reads was written under that buffer's name before (state
      and inputs from outside), and by nothing else since. A collective may move
      bytes that nobody reads afterwards: those between the members of a bucket.
    * (L3) A result lies on an operand only where the kernel computes in place;
      results and scratch memory lie apart.
    * (L4) Every start has one wait, in the same block and after it. In between
      nothing writes what the collective reads nor touches what it writes. An
      all-to-all does not write what it reads.

    ```mlir
    module attributes {exec.memory = #exec.memory<arena = 0, shared = 128, peak = 128, lowerBound = 128>} {
      exec.entry @step {
        %0 = exec.buffer shared at 0 : memref<4xf32>
        %1 = exec.buffer shared at 64 : memref<4xf32>
        exec.zero %0 : memref<4xf32>
        %e = exec.start all_reduce sum over ["data"] %0 to %0 id 0 : memref<4xf32>, memref<4xf32>
        exec.copy %0 to %1 : memref<4xf32>
        exec.wait %e
      }
    }
    // error: level 'scheduled': input (bytes [0, 16) of shared) is being written by a collective
    ```
  }];
}

def VerifyExec : Pass<"dpc-verify-exec", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `exec`";
  let description = [{
    * (L1) Entries consist of what the action table can say: calls of functions,
      starts, waits, loops and zeros; launches stand in functions alone.
    * (L2) Every function is called, and once: its place in the order is that of
      its call.
    * (L3) Kernels have code: a symbol of their name in the module @code; where
      they are grids of threads (`exec.launches`), a function for each launch,
      whose arguments are among the kernel's buffers.
    * (L4) Every exec.buffer has a number; those of one number have one place.

    ```mlir
    func.func private @k(%w: tensor<4xf32>) -> tensor<4xf32> {
      return %w : tensor<4xf32>
    }
    exec.persistent @state.w #nn.arg<parameter "w"> arena at 0 : memref<4xf32>
    exec.entry @step {
      %0 = exec.get @state.w : memref<4xf32>
      exec.launch @k(%0) into (%0) : (memref<4xf32>), (memref<4xf32>)
    }
    // error: level 'exec': 'exec.launch' is no action
    ```
  }];
}

#endif // DPC_PASSES_VERIFY_PASSES_TD
