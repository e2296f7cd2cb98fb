// RUN: dpc-opt %s --dpc-describe-machine | FileCheck %s --check-prefix=CPU
// RUN: dpc-opt %s --dpc-describe-machine=target=scalar | FileCheck %s --check-prefix=SCALAR
// RUN: dpc-opt %s --dpc-describe-machine=processor=x86-64-v4 --dpc-describe-machine=target=scalar | FileCheck %s --check-prefix=KEPT
// RUN: not dpc-opt %s --dpc-describe-machine=target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dpc-opt %s --dpc-describe-machine=processor=i386 2>&1 | FileCheck %s --check-prefix=PROCESSOR
// RUN: dpc-opt %s --dpc-describe-machine=topology=%S/../../../topologies/cpu-2.json | FileCheck %s --check-prefix=FILE
// RUN: not dpc-opt %s --dpc-describe-machine=topology=%S/nowhere.json 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not dpc-opt %s --dpc-describe-machine=topology=%S/../../../topologies/cpu-2.json --dpc-assign-layouts=axes=data=4 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not dpc-opt %s --dpc-assign-layouts=axes=data=2 2>&1 | FileCheck %s --check-prefix=NONE

// The target says what its device and its connections can do; a machine that the
// program has stays.
// CPU: module @target_describes_machine attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {device = {TFLOP_per_s = {bf16 = 1.000000e-01 : f64, f16 = 1.000000e-01 : f64, f32 = 1.000000e-01 : f64, f64 = 5.000000e-02 : f64}, memory_GB_per_s = 20 : i64}, levels = [{GB_per_s = 3 : i64, name = "shared memory", start_us = 5 : i64}], name = "shared memory"}>}
// SCALAR: dist.machine = #dist.machine<target = "scalar", processor = "x86-64", transport = "wires", topology =
// KEPT: dist.machine = #dist.machine<target = "cpu", processor = "x86-64-v4"
// TARGET: error: unknown target 'tpu'
// PROCESSOR: error: target 'cpu' knows no processor 'i386'
// FILE: levels = [{GB_per_s = 3 : i64, name = "shared memory", size = 2 : i64, start_us = 5 : i64}], name = "2 cores of one host"}>
// NOFILE: error: {{.*}}nowhere.json: No such file or directory
// SMALL: error: the mesh has 4 ranks, and the machine '2 cores of one host' 2 devices
// NONE: error: has no machine that it is planned for (dpc-describe-machine)
module @target_describes_machine {
}
