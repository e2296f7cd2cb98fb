#ifndef DPC_PASSES_MACHINE_PASSES_TD
#define DPC_PASSES_MACHINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DescribeMachine : Pass<"dpc-describe-machine", "mlir::ModuleOp"> {
  let summary = "Records the machine that the program is planned for";
  let description = [{
    Writes the attribute `dist.machine` on the module. It names the target that runs the
    kernels, and has the rates of a device and of the connections between devices: those of
    a topology file, or rough ones of the target. Later passes use the machine to choose
    layouts, sharded updates, kernels and the order of a step. If the module already has a
    machine, the pass keeps it.

    Needs: nothing. Keeps: the level.

    ```mlir
    module {}
    // becomes
    module attributes {dist.machine = #dist.machine<target = "cpu", processor = "native",
        transport = "wires", topology = {name = "shared memory",
          device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20},
          levels = [{name = "shared memory", GB_per_s = 3, start_us = 5} ]}>} {}
    ```
  }];
  let dependentDialects = ["::dpc::dist::DistDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "The target that runs the kernels">,
    Option<"processor", "processor", "std::string", "\"\"",
           "A processor that the target knows (default: its first)">,
    Option<"topology", "topology", "std::string", "\"\"",
           "A topology file (default: the target's numbers)">,
  ];
}

#endif // DPC_PASSES_MACHINE_PASSES_TD
