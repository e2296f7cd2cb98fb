// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-describe-machine --dpc-follow-plan=level=scheduled
// RUN: not dpc-opt %s --dpc-describe-machine --dpc-follow-plan=level=exec --split-input-file 2>&1 | FileCheck %s

// CHECK: error: no plan chooses the passes of level 'exec'

// expected-error @+1 {{has no plan (dist.plan)}}
module @refuses_missing_plan {
}

// -----

// expected-error @+1 {{its plan: is for a mesh of data=2, but the program is laid out for data=4}}
module @refuses_plan_of_other_mesh attributes {dist.plan = #dist.plan<mesh = ["data" = 2 batch]>} {
  dist.mesh @mesh axes ["micro", "data"] sizes [2, 4] sequential ["micro"]
}

// -----

// expected-error @+1 {{its plan: values are computed again in a backward pass, which the program has not}}
module @refuses_remat_without_backward attributes {dist.plan = #dist.plan<rematBytes = -1>} {
}

// -----

// expected-error @+1 {{its plan: products of f32 are made in tf32, which the target has not}}
module @refuses_tf32_without_units attributes {dist.plan = #dist.plan<factors = "tf32">} {
  func.func @step() {
    return
  }
}
