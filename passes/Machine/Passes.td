#ifndef DPC_PASSES_MACHINE_PASSES_TD
#define DPC_PASSES_MACHINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DescribeMachine : Pass<"dpc-describe-machine", "mlir::ModuleOp"> {
  let summary = "Records the machine that the program is planned for";
  let description = [{
    Writes the attribute `dist.machine` on the module. It names the target that runs the
    kernels, and has the rates of the target's device and of the links between devices.
    Later passes use the machine to choose layouts, sharded updates, kernels and the order
    of a step. If the module already has a machine, the pass keeps it.

    Needs: nothing. Keeps: the level.

    ```mlir
    module {}
    // becomes
    module attributes {dist.machine = #dist.machine<target = "cpu", processor = "native",
        flopsPerUs = 100000, memoryBytesPerUs = 20000, link = <bytesPerUs = 3000, latencyNs = 5000>>} {}
    ```
  }];
  let dependentDialects = ["::dpc::dist::DistDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "The target that runs the kernels">,
    Option<"processor", "processor", "std::string", "\"\"",
           "A processor that the target knows (default: its first)">,
  ];
}

#endif // DPC_PASSES_MACHINE_PASSES_TD
