// RUN: not dpc-opt %S/remat.mlir '--dpc-check-remat-nodes=nodes=prod*,foo*' 2>&1 | FileCheck %s
// RUN: not dpc-opt %S/remat.mlir '--dpc-check-remat-nodes=nodes=[z-a]' 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: dpc-opt %S/remat.mlir '--dpc-check-remat-nodes=nodes=expo*,sec*' | FileCheck %s --check-prefix=FOUND

// CHECK: error: --remat=foo*: no node of the forward pass has such a name
// BROKEN: error: --remat=[z-a]: invalid
// FOUND: module @recomputes_from_kept_values
