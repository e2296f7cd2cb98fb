#ifndef DPC_PASSES_MEMORY_PASSES_TD
#define DPC_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignOffsets : Pass<"dpc-assign-offsets", "mlir::ModuleOp"> {
  let summary = "Places every buffer at a byte offset, buffers that are never live together on the same bytes";
  let description = [{
    A buffer is live from its first use to its last, in the order of the ops; one
    that stands outside a loop and is used in it is live as long as the loop.
    Persistent buffers (`exec.persistent`) are always live. Entries run one at a
    time, so their buffers may lie on the same bytes. An output may take the bytes
    of an input that dies in its launch, where the kernel can compute in place.
    MemoryPlan.h has the algorithm.

    With `one-region`, buffers of a program that communicates all lie in the shared space, where
    what collectives work on and what they do not may take turns on the same bytes.

    Sets the offsets and the module's `exec.memory`. Fails when the plan needs
    more than `capacity-bytes` over all spaces.

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
