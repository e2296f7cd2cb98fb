// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-bodies
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-assign-layouts
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-differentiate
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-form-attention
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-form-batch-gathers
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-lower-to-exec
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-record-bounds
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-step-pipeline
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-placed-pipeline
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-local-pipeline
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-ordered-pipeline
// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-scheduled-pipeline

// No pass sees a function without a body.
module @refuses_forward_without_body {
// expected-error @+1 {{@forward has no body}}
func.func private @forward(tensor<2xf32>)
}

// -----
module @refuses_step_without_body {
// expected-error @+1 {{@step has no body}}
func.func private @step(tensor<2xf32>)
}
