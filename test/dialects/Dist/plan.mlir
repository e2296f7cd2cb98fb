// RUN: dpc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: module @prints_empty_plan attributes {dist.plan = #dist.plan<>}
module @prints_empty_plan attributes {dist.plan = #dist.plan<>} {
}

// -----

// Choices that are those of the default plan go from the text.
// CHECK: dist.plan = #dist.plan<mesh = ["data" = 2 batch, "model" = 4], zeroStage = 3, zeroAxes = ["data"], rematNodes = ["a*", "b\22"], overlap = false, products = "library">
module @omits_default_choices attributes {dist.plan = #dist.plan<zeroStage = 3, products = "library", mesh = ["data" = 2 batch, "model" = 4], zeroAxes = ["data"],
                                          overlap = false, rematNodes = ["a*", "b\22"], recompute = true>} {
}

// -----

// expected-error @+1 {{a plan has no choice 'stages'}}
module @refuses_unknown_choice attributes {dist.plan = #dist.plan<stages = 4>} {
}

// -----

// expected-error @+1 {{'off' is neither true nor false}}
module @refuses_word_as_boolean attributes {dist.plan = #dist.plan<overlap = off>} {
}

// -----

// expected-error @+1 {{'cublas' is none of auto, generated and library}}
module @refuses_unknown_products attributes {dist.plan = #dist.plan<products = "cublas">} {
}

// -----

// expected-error @+1 {{a plan: state is divided over 'data', which is no axis of the mesh}}
module @refuses_unknown_zero_axis attributes {dist.plan = #dist.plan<mesh = ["model" = 2], zeroStage = 1, zeroAxes = ["data"]>} {
}

// -----

// expected-error @+1 {{has the unknown attribute "dist.plan"}}
module @refuses_number_as_plan attributes {dist.plan = 3} {
}
