// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-widen-floats | FileCheck %s

// Every float type of a function becomes f64, whatever its width; integers and truth values stay.
// CHECK-LABEL: func.func @widens_every_float_type
// CHECK-SAME: %[[A:[a-zA-Z0-9]+]]: tensor<4xf64>, %[[B:[a-zA-Z0-9]+]]: tensor<4xf64>, %[[I:[a-zA-Z0-9]+]]: tensor<4xi64>, %[[P:[a-zA-Z0-9]+]]: tensor<4xi1>) -> (tensor<4xf64>, tensor<4xi64>)
func.func @widens_every_float_type(%a: tensor<4xf32>, %b: tensor<4xf16>, %i: tensor<4xi64>, %p: tensor<4xi1>)
    -> (tensor<4xf32>, tensor<4xi64>) {
  // CHECK: %[[S:[a-zA-Z0-9]+]] = nn.select %[[P]], %[[A]], %[[A]] : tensor<4xi1>, tensor<4xf64>
  %s = nn.select %p, %a, %a : tensor<4xi1>, tensor<4xf32>
  // CHECK: return %[[S]], %[[I]] : tensor<4xf64>, tensor<4xi64>
  return %s, %i : tensor<4xf32>, tensor<4xi64>
}

// A value is widened, not parsed again: 0.1f stays the f32 number nearest to 0.1.
// CHECK-LABEL: func.func @widens_rounded_values
func.func @widens_rounded_values() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) {
  // CHECK: nn.constant dense<[0.10000000149011612, -2.500000e+00]> : tensor<2xf64>
  %0 = nn.constant dense<[0.1, -2.5]> : tensor<2xf32>
  // Equal elements stay a splat.
  // CHECK: nn.constant dense<0.10000000149011612> : tensor<2xf64>
  %1 = nn.constant dense<0.1> : tensor<2xf32>
  // CHECK: nn.constant dense<[1, 2]> : tensor<2xi32>
  %2 = nn.constant dense<[1, 2]> : tensor<2xi32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>
}

// A Cast to float is one to f64 too.
// CHECK-LABEL: func.func @widens_target_of_cast
func.func @widens_target_of_cast(%i: tensor<4xi64>) -> tensor<4xf32> {
  // CHECK: nn.convert %{{.*}} : tensor<4xi64> -> tensor<4xf64>
  %0 = nn.convert %i : tensor<4xi64> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Regions are widened with their arguments.
// CHECK-LABEL: func.func @widens_region_arguments
func.func @widens_region_arguments(%p: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf32> {
  // CHECK: nn.update(%{{.*}} : tensor<4xf64>) scalars(%{{.*}} : tensor<f64>)
  // CHECK-NEXT: ^bb0(%[[P:[a-zA-Z0-9]+]]: tensor<f64>, %[[L:[a-zA-Z0-9]+]]: tensor<f64>):
  // CHECK-NEXT: nn.mul %[[P]], %[[L]] : tensor<f64>
  %0 = nn.update (%p : tensor<4xf32>) scalars (%lr : tensor<f32>) {
  ^bb0(%pi: tensor<f32>, %l: tensor<f32>):
    %n = nn.mul %pi, %l : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// State starts at the widened value; integer state stays.
// CHECK: nn.variable @w = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf64>
nn.variable @w = dense<[0.5, 0.25]> : tensor<2xf32>
// CHECK: nn.variable @steps = dense<3> : tensor<i64>
nn.variable @steps = dense<3> : tensor<i64>

// -----

// A large value stays a resource, with a key made of the old one.
// CHECK: nn.variable @fc.weight = dense_resource<[[KEY:stored[_0-9]*]]> : tensor<2xf64>
nn.variable @"fc.weight" = dense_resource<stored> : tensor<2xf32>
// CHECK: [[KEY]]: "0x08000000000000000000F03F0000000000000040"
{-#
  dialect_resources: { builtin: { stored: "0x040000000000803F00000040" } }
#-}

// -----

// A resource whose values are not there is no value.
// expected-error@+1 {{has a value that cannot be read}}
nn.variable @w = dense_resource<absent> : tensor<2xf32>
