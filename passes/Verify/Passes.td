#ifndef DPC_PASSES_VERIFY_PASSES_TD
#define DPC_PASSES_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

// Checks of the contracts of the levels (docs/contracts.md). These passes do not change the
// module. Each fails with an error on the op that breaks the contract of its level.

def VerifyBodies : Pass<"dpc-verify-bodies", "mlir::ModuleOp"> {
  let summary = "Checks that every function has a body";
  let description = [{
    Every other pass needs functions with bodies, so `dpc-opt` runs this pass first. Only
    modules from outside can break the contract: dpc creates no function without a body.

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
    * (L2) The function consists of `nn` ops, except those that only later levels create
      (`nn.kernel`, `nn.update`). Every op but constants has a location.
    * (L3) Every argument has an `#nn.arg` and every result an `#nn.result`. No two
      arguments have the same name, and no result is a gradient.
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
    * (L1) The module holds @step and @eval, or only @infer, and `nn.variable`s.
    * (L2) The functions consist of `nn` ops without side effects. No op has a training
      form. No op passes its operand on and affects only the gradient of the operand, as
      `nn.stop_gradient` does. Every op but constants has a location.
    * (L3) Every argument has an `#nn.arg` and every result an `#nn.result`; no
      result is a gradient.
    * (L4) Every argument that is state has an `nn.variable` of its name and type.
    * (L5) A result that is state has the name and the type of an argument that is a
      trained parameter, a buffer or optimizer state. No state is returned twice, and
      @eval and @infer return no state.
    * (L6) A module with @step has the schedule of the learning rate.

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
    * (L2) Every argument, and every operand and result of every op, has a layout. The
      layout has the shape of the value and is valid on the mesh.
    * (L3) An op reads each value in the layout in which the value was computed. Only a
      `dist.reshard` changes a layout.
    * (L4) The layouts of an op agree on the sharding of its loops
      (`ShardableOpInterface`). If two dimensions of its operands and results consist of
      the same single loop, the same axes shard both dimensions. If an axis shards a
      reduced loop, every result is partial over that axis.
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
    * (L1) The module has one `dist.mesh`. The functions consist of `nn` ops,
      collectives and microbatch loops. There is no `dist.reshard`, and only arguments
      have layouts.
    * (L2) Each argument has the shape of one device's shard under its layout.
    * (L3) All ranks run the same ops, because only kernels, updates and `dist.micro`
      have regions, and the iteration count of a `dist.micro` is the size of its mesh
      axis. Therefore all members of a group of devices run the same sequence of
      collectives, and no two groups wait for each other.
    * (L4) `dist.axis_index` names an axis of the mesh. If the axis is sequential, the op
      is inside the loop over that axis.

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

def VerifyStages : Pass<"dpc-verify-stages", "mlir::ModuleOp"> {
  let summary = "Checks the stages of a pipeline against each other";
  let description = [{
    * (S1) The module has one mesh, and one module `dist.stage = N` with an equal mesh for
      each coordinate N on the axis `pipe`. All functions are in these modules.
    * (S2) Each `dist.send` has one `dist.recv` of the same number in the same function of
      the stage that it names, which is another stage. The `dist.recv` names its stage.
      Both have one type, and are along the axis `pipe`.
    * (S3) Each `dist.stage_reduce` has one op of the same number, type and stages in the
      same function of every stage that it lists, and in no other stage.
    * (S4) If all stages run a function together, each of them ends, and each message is
      received. A `dist.recv` waits for its message, and a `dist.stage_reduce` for all its
      members.
    * (S5) One stage returns each result that is no state.
    * (S6) A state has one type and one layout on all stages. If a stage returns its new
      value, exactly the stages that have the state as an argument of a function do.

    Does nothing if the module has no stages.

    ```mlir
    dist.mesh @mesh axes ["pipe"] sizes [2]
    module @stage.0 attributes {dist.stage = 0} {
      dist.mesh @mesh axes ["pipe"] sizes [2]
      func.func @step() {
        %x = dist.recv from 1 on @mesh "pipe" number 3 : tensor<4xf32>
        return
      }
    }
    module @stage.1 attributes {dist.stage = 1} {
      dist.mesh @mesh axes ["pipe"] sizes [2]
    }
    // error: stages: message 3 has a receiver and no sender
    ```
  }];
}

def VerifyOrdered : Pass<"dpc-verify-ordered", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `ordered`";
  let description = [{
    At this level, the program of a rank consists of kernels, collectives and moves of
    data. They work on tensors, and are listed in the order in which they run.

    * (L1) Every computation is in a kernel (`nn.kernel`, `nn.update`). Outside of kernels there are
      only views of other tensors, packs, coordinates (`dist.axis_index`), collectives and loops
      over microbatches (`dist.micro`).
    * (L2) A kernel contains `nn` ops only, and no kernel.
    * (L3) Every argument has an `#nn.arg` or is flat storage (`#dist.storage`), and every result
      has an `#nn.result` or is flat storage.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) {
      %0 = nn.exp %x : tensor<4xf32>
      return
    }
    // error: level 'ordered': 'nn.exp' is in no kernel
    ```
  }];
}

def VerifyScheduled : Pass<"dpc-verify-scheduled", "mlir::ModuleOp"> {
  let summary = "Checks the contract of level `scheduled`";
  let description = [{
    Simulates every entry, with all iterations of its loops, and tracks which buffer each
    byte belongs to (BufferContents.h). The check does not use the plans that placed and
    ordered the buffers.

    * (L1) Every buffer has an offset and lies inside its space, whose size is in the
      module's `exec.memory`.
    * (L2) The bytes that an op reads were last written through the same buffer, or, for state,
      inputs and controls, by the host. A collective may also read bytes that no op wrote,
      if no op reads them afterwards. The bytes between the members of a bucket are of
      this kind.
    * (L3) A result overlaps an operand only if the kernel computes in place. Results
      and scratch memory do not overlap each other, and scratch memory overlaps no operand.
    * (L4) Every start has one wait, in the same block and after it. Between them no op
      writes the input of the collective or accesses its output. The output of an
      all-to-all does not overlap its input.

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
    * (L1) Entries consist of ops that the action table can express: calls of functions,
      starts, waits, loops and zeros. Launches are only in functions.
    * (L2) Every function is called exactly once, so that the position of the call is the
      position of the function in the order of execution.
    * (L3) If there is a module @code, it has a symbol with the name of every launched
      kernel. If a kernel is a sequence of grids of threads (`exec.launches`), there is a
      function for each launch, and the arguments of that function are buffers of the kernel.
    * (L4) Every `exec.buffer` has a number. All `exec.buffer` ops with the same number
      have the same place.

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
