// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-align-products | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-align-products=products=generated | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-align-products=products=library | FileCheck %s --check-prefix=LIBRARY
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-align-products=factors=tf32 | FileCheck %s --check-prefix=TF32
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-align-products=factors=tf32x3 | FileCheck %s --check-prefix=TF32
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-align-products='ordered-sums products=library' | FileCheck %s --check-prefix=NONE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cpu --dpc-align-products=products=library | FileCheck %s --check-prefix=NONE

// Where sums keep their order, and on a target that does not want longer rows, nothing is padded.
// NONE-NOT: nn.pad
// NONE-NOT: nn.slice

// Logits, the gradient of their weight and that of their operand: all rows of 1003 elements get
// 1008. Products share the padded factors, and each reader reads its part of the logits.
// CHECK-LABEL: @rows_of_classes
// CHECK: %[[W:.*]] = nn.pad %arg1, %{{.*}} low [0, 0] high [5, 0] interior [0, 0]
// CHECK: %[[Y:.*]] = nn.dot %arg0, %[[W]] contract [1] [1] : {{.*}} -> tensor<512x1008xf32>
// CHECK-DAG: nn.slice %[[Y]] starts [0, 0] limits [512, 1003] strides [1, 1] {nn.read_in_place}
// CHECK-DAG: nn.slice %[[Y]] starts [0, 0] limits [512, 1003] strides [1, 1] {nn.read_in_place}
// CHECK: %[[G:.*]] = nn.pad %{{.*}} low [0, 0] high [0, 5] interior [0, 0]
// CHECK: nn.dot %[[G]], %[[W]] contract [1] [0] : {{.*}} -> tensor<512x768xbf16>
// CHECK: %[[D:.*]] = nn.dot %[[G]], %arg0 contract [0] [0] : {{.*}} -> tensor<1008x768xf32>
// CHECK: %[[C:.*]] = nn.slice %[[D]] starts [0, 0] limits [1003, 768] strides [1, 1] :
// CHECK: return %{{.*}}, %{{.*}}, %[[C]]
func.func @rows_of_classes(%x: tensor<512x768xbf16>, %w: tensor<1003x768xbf16>) -> (tensor<512xf32>, tensor<512x768xbf16>, tensor<1003x768xf32>) {
  %y = nn.dot %x, %w contract [1] [1] : tensor<512x768xbf16>, tensor<1003x768xbf16> -> tensor<512x1003xf32>
  %s = nn.reduce max %y [1] : tensor<512x1003xf32> -> tensor<512xf32>
  %e = nn.exp %y : tensor<512x1003xf32>
  %g = nn.convert %e : tensor<512x1003xf32> -> tensor<512x1003xbf16>
  %h = nn.dot %g, %w contract [1] [0] : tensor<512x1003xbf16>, tensor<1003x768xbf16> -> tensor<512x768xbf16>
  %d = nn.dot %g, %x contract [0] [0] : tensor<512x1003xbf16>, tensor<512x768xbf16> -> tensor<1003x768xf32>
  return %s, %h, %d : tensor<512xf32>, tensor<512x768xbf16>, tensor<1003x768xf32>
}

// -----

// Rows that are long enough stay.
// CHECK-LABEL: @rows_of_whole_pieces
// CHECK-NOT: nn.pad
func.func @rows_of_whole_pieces(%x: tensor<512x768xbf16>, %w: tensor<1000x768xbf16>) -> tensor<512x1000xf32> {
  %y = nn.dot %x, %w contract [1] [1] : tensor<512x768xbf16>, tensor<1000x768xbf16> -> tensor<512x1000xf32>
  return %y : tensor<512x1000xf32>
}

// -----

// A dimension between others is in no row, whatever its extent.
// CHECK-LABEL: @outer_dimension
// CHECK-NOT: nn.pad
func.func @outer_dimension(%x: tensor<513x1000xbf16>, %w: tensor<1000x768xbf16>) -> tensor<513x768xf32> {
  %y = nn.dot %x, %w contract [1] [0] : tensor<513x1000xbf16>, tensor<1000x768xbf16> -> tensor<513x768xf32>
  return %y : tensor<513x768xf32>
}

// -----

// A small product is padded only if the library makes all products.
// CHECK-LABEL: @small_product
// CHECK-NOT: nn.pad
// LIBRARY-LABEL: @small_product
// LIBRARY: nn.pad
func.func @small_product(%x: tensor<96x64xbf16>, %w: tensor<64x203xbf16>) -> tensor<96x203xbf16> {
  %y = nn.dot %x, %w contract [1] [0] : tensor<96x64xbf16>, tensor<64x203xbf16> -> tensor<96x203xbf16>
  return %y : tensor<96x203xbf16>
}

// -----

// Pieces of f32 have four elements, whether or not the factors are rounded.
// CHECK-LABEL: @rows_of_f32
// CHECK: high [1, 0] interior [0, 0] : tensor<1003x768xf32>, tensor<f32> -> tensor<1004x768xf32>
// TF32-LABEL: @rows_of_f32
// TF32: high [1, 0] interior [0, 0] : tensor<1003x768xf32>, tensor<f32> -> tensor<1004x768xf32>
func.func @rows_of_f32(%x: tensor<512x768xf32>, %w: tensor<1003x768xf32>) -> tensor<512x1003xf32> {
  %y = nn.dot %x, %w contract [1] [1] : tensor<512x768xf32>, tensor<1003x768xf32> -> tensor<512x1003xf32>
  return %y : tensor<512x1003xf32>
}

// -----

// Each element of %x takes part in 40 multiplications only, which are faster than its copy.
// CHECK-LABEL: @factor_read_seldom
// CHECK-NOT: nn.pad
func.func @factor_read_seldom(%x: tensor<4096x1003xbf16>, %w: tensor<1003x40xbf16>) -> tensor<4096x40xbf16> {
  %y = nn.dot %x, %w contract [1] [0] : tensor<4096x1003xbf16>, tensor<1003x40xbf16> -> tensor<4096x40xbf16>
  return %y : tensor<4096x40xbf16>
}

// -----

// Six more of ten columns are too many.
// CHECK-LABEL: @few_columns
// CHECK-NOT: nn.pad
func.func @few_columns(%x: tensor<4096x1000xbf16>, %w: tensor<1000x10xbf16>) -> tensor<4096x10xbf16> {
  %y = nn.dot %x, %w contract [1] [0] : tensor<4096x1000xbf16>, tensor<1000x10xbf16> -> tensor<4096x10xbf16>
  return %y : tensor<4096x10xbf16>
}

// -----

// All readers that need the result in memory share one copy.
// CHECK-LABEL: @readers_share_copy
// CHECK: %[[Y:.*]] = nn.dot
// CHECK-NEXT: %[[C:.*]] = nn.slice %[[Y]]
// CHECK-NOT: nn.read_in_place
// CHECK-NOT: nn.slice
// CHECK: return %[[C]], %[[C]]
func.func @readers_share_copy(%x: tensor<512x768xbf16>, %w: tensor<768x1003xbf16>) -> (tensor<512x1003xf32>, tensor<512x1003xf32>) {
  %y = nn.dot %x, %w contract [1] [0] : tensor<512x768xbf16>, tensor<768x1003xbf16> -> tensor<512x1003xf32>
  return %y, %y : tensor<512x1003xf32>, tensor<512x1003xf32>
}

// -----

// Long rows are padded to whole lines of 128 bytes of their narrowest type, as this adds little.
// CHECK-LABEL: @rows_of_whole_lines
// CHECK: nn.pad {{.*}} high [0, 47] interior [0, 0] : tensor<512x50257xbf16>, tensor<bf16> -> tensor<512x50304xbf16>
func.func @rows_of_whole_lines(%x: tensor<768x512xbf16>, %w: tensor<512x50257xbf16>) -> tensor<768x50257xf32> {
  %y = nn.dot %x, %w contract [1] [0] : tensor<768x512xbf16>, tensor<512x50257xbf16> -> tensor<768x50257xf32>
  return %y : tensor<768x50257xf32>
}

// -----

// A reshape of complete rows reshapes the padded rows, so that its readers read them in place. The
// gradient is padded before its reshape, where loops compute it. Nothing is copied.
// CHECK-LABEL: @reshaped_rows
// CHECK: %[[Y:.*]] = nn.dot %arg0, %{{.*}} contract [2] [1] : {{.*}} -> tensor<4x128x1008xf32>
// CHECK: %[[R:.*]] = nn.reshape %[[Y]] : tensor<4x128x1008xf32> -> tensor<512x1008xf32>
// CHECK: %[[S:.*]] = nn.slice %[[R]] starts [0, 0] limits [512, 1003] strides [1, 1] {nn.read_in_place}
// CHECK: %[[E:.*]] = nn.exp %[[S]] : tensor<512x1003xf32>
// CHECK: %[[G:.*]] = nn.convert %[[E]]
// CHECK-NOT: nn.reshape %[[G]]
// CHECK: %[[P:.*]] = nn.pad %[[G]], %{{.*}} low [0, 0] high [0, 5] interior [0, 0]
// CHECK: %[[H:.*]] = nn.reshape %[[P]] : tensor<512x1008xbf16> -> tensor<4x128x1008xbf16>
// CHECK-NOT: nn.reshape
// CHECK: nn.dot %[[H]],
// CHECK-NOT: nn.slice {{.*}} tensor<4x128x1003
func.func @reshaped_rows(%x: tensor<4x128x768xbf16>, %w: tensor<1003x768xbf16>) -> tensor<1003x768xf32> {
  %y = nn.dot %x, %w contract [2] [1] : tensor<4x128x768xbf16>, tensor<1003x768xbf16> -> tensor<4x128x1003xf32>
  %r = nn.reshape %y : tensor<4x128x1003xf32> -> tensor<512x1003xf32>
  %e = nn.exp %r : tensor<512x1003xf32>
  %g = nn.convert %e : tensor<512x1003xf32> -> tensor<512x1003xbf16>
  %h = nn.reshape %g : tensor<512x1003xbf16> -> tensor<4x128x1003xbf16>
  %d = nn.dot %h, %x contract [0, 1] [0, 1] : tensor<4x128x1003xbf16>, tensor<4x128x768xbf16> -> tensor<1003x768xf32>
  return %d : tensor<1003x768xf32>
}

// -----

// A reshape that breaks rows gets a copy of the unpadded rows.
// CHECK-LABEL: @broken_rows
// CHECK: %[[Y:.*]] = nn.dot {{.*}} -> tensor<512x1008xf32>
// CHECK: %[[S:.*]] = nn.slice %[[Y]] starts [0, 0] limits [512, 1003] strides [1, 1] :
// CHECK: nn.reshape %[[S]] : tensor<512x1003xf32> -> tensor<1003x512xf32>
func.func @broken_rows(%x: tensor<512x768xbf16>, %w: tensor<1003x768xbf16>) -> tensor<1003x512xf32> {
  %y = nn.dot %x, %w contract [1] [1] : tensor<512x768xbf16>, tensor<1003x768xbf16> -> tensor<512x1003xf32>
  %r = nn.reshape %y : tensor<512x1003xf32> -> tensor<1003x512xf32>
  return %r : tensor<1003x512xf32>
}
