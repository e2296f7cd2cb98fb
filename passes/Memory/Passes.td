#ifndef DPC_PASSES_MEMORY_PASSES_TD
#define DPC_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignOffsets : Pass<"dpc-assign-offsets", "mlir::ModuleOp"> {
  let summary = "Assigns byte offsets to all buffers; buffers that are never live together may share bytes";
  let description = [{
    A buffer is live from its first use to its last use, in the order of the ops. If a
    buffer is defined outside of a loop and used in the loop, it is live during the complete
    loop. Persistent buffers (`exec.persistent`) are always live. Only one entry runs at a
    time, so buffers of different entries may share bytes. An output of a launch may take
    the bytes of an input if this launch is the last use of the input and the kernel can
    compute in place. MemoryPlan.h describes the algorithm.

    With `one-region`, all temporary buffers of a program that communicates lie in the
    shared space. Then buffers of collectives and other buffers can use the same bytes at
    different times.

    Sets the offset of every buffer, and the attributes of the module that describe its
    memory: `exec.memory`, `exec.memory_use` and `exec.live_bytes`. Fails if the plan needs
    more than `capacity-bytes` in all spaces together.

    Needs: the final order (`dpc-lower-to-exec`). Keeps: everything else.

    ```mlir
    %0 = exec.buffer arena : memref<8x3xf32>
    // becomes
    %0 = exec.buffer arena at 128 : memref<8x3xf32>
    ```
  }];
  let dependentDialects = ["::dpc::exec::ExecDialect"];
  let options = [
    Option<"capacityBytes", "capacity-bytes", "int64_t", "0",
           "Bytes a rank may use; 0 for no limit">,
    Option<"oneRegion", "one-region", "bool", "false", "Buffers lie in the shared space if collectives work there">,
    Option<"explain", "explain", "bool", "false", "Emit a remark with the peak and its lower bound">,
  ];
}

#endif // DPC_PASSES_MEMORY_PASSES_TD
