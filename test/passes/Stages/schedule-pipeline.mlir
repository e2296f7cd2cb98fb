// RUN: dpc-opt %s --dpc-describe-machine --dpc-schedule-pipeline | FileCheck %s
// RUN: dpc-opt %s --dpc-describe-machine --dpc-schedule-pipeline="schedule=gpipe" | FileCheck %s --check-prefix=GPIPE
// RUN: dpc-opt %s --dpc-describe-machine --dpc-schedule-pipeline="overlap=false" | FileCheck %s --check-prefix=ALONE
// RUN: dpc-opt %s --dpc-describe-machine --dpc-schedule-pipeline="schedule=gpipe held-bytes=8192,0" | FileCheck %s --check-prefix=CAP
// RUN: not dpc-opt %s --dpc-describe-machine --dpc-schedule-pipeline="held-bytes=4095,0" 2>&1 | FileCheck %s --check-prefix=LESS

// The first stage runs two forward pieces before the first backward one (1F1B), or all of them
// (GPipe). The messages of both stages have one order: the last stage starts to receive microbatch 1
// (message 0) before it runs microbatch 0, because the message is ready before this piece ends.
// A stage waits for a message that it has sent after two more pieces, or at once. Each microbatch
// of the first stage holds 4096 bytes. With a limit of 8192 GPipe starts a third forward piece only
// after a backward one.
// CHECK: dist.pipeline = #dist.pipeline<{{.*}}held = [8192, 0], least = [4096, 0]>
// CAP: dist.pipeline = #dist.pipeline<{{.*}}held = [8192, 0], least = [4096, 0]>
// GPIPE: dist.pipeline = #dist.pipeline<{{.*}}held = [12288, 0]
// LESS: error: schedule: the microbatches of stage 0 may hold 4095 bytes, but they need at least 4096
module {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
  module @stage.0 attributes {dist.stage = 0 : i64} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    // CHECK: dist.order = "r0.0 s0.0 r0.1 s0.1 v1.0 w1.0 v1.1 r1.0 w0.0 r0.2 s0.2
    // GPIPE: dist.order = "r0.0 s0.0 r0.1 s0.1 r0.2
    // ALONE: dist.order = "r0.0 s0.0 w0.0 r0.1
    // CAP: dist.order = "r0.0 s0.0 r0.1 s0.1 v1.0 w1.0 v1.1 r1.0
    func.func @step(%x: tensor<3x1024xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<1024xf32> {nn.result = #nn.result<state "w">}) {
      %s = dist.micro 3 "micro" (%x : tensor<3x1024xf32>) operands [sliced] {
      ^bb0(%xm: tensor<1024xf32>):
        %h = dist.piece "F" chunk 0 {
          %0 = nn.kernel (%xm : tensor<1024xf32>) {
          ^bb0(%a: tensor<1024xf32>):
            %1 = nn.exp %a : tensor<1024xf32>
            nn.yield %1 : tensor<1024xf32>
          } -> tensor<1024xf32>
          dist.yield %0 : tensor<1024xf32>
        } -> tensor<1024xf32>
        dist.send %h to 1 on @mesh "pipe" number 0 : tensor<1024xf32>
        %g = dist.recv from 1 backward on @mesh "pipe" number 1 : tensor<1024xf32>
        %d = dist.piece "B" chunk 0 {
          %0 = nn.kernel (%h, %g : tensor<1024xf32>, tensor<1024xf32>) {
          ^bb0(%a: tensor<1024xf32>, %b: tensor<1024xf32>):
            %1 = nn.mul %a, %b : tensor<1024xf32>
            nn.yield %1 : tensor<1024xf32>
          } -> tensor<1024xf32>
          dist.yield %0 : tensor<1024xf32>
        } -> tensor<1024xf32>
        dist.yield %d : tensor<1024xf32>
      } -> (tensor<1024xf32>) results [summed]
      return %s : tensor<1024xf32>
    }
  }
  module @stage.1 attributes {dist.stage = 1 : i64} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    // CHECK: dist.order = "v0.0 w0.0 v0.1 r0.0 s1.0
    // GPIPE: dist.order = "v0.0 w0.0 v0.1 v0.2 r0.0
    // ALONE: dist.order = "v0.0 w0.0 v0.1 r0.0 s1.0 w1.0
    func.func @step() {
      dist.micro 3 "micro" () operands [] {
        %h = dist.recv from 0 on @mesh "pipe" number 0 : tensor<1024xf32>
        %d = dist.piece "F" chunk 1 {
          %0 = nn.kernel (%h : tensor<1024xf32>) {
          ^bb0(%a: tensor<1024xf32>):
            %1 = nn.tanh %a : tensor<1024xf32>
            nn.yield %1 : tensor<1024xf32>
          } -> tensor<1024xf32>
          dist.yield %0 : tensor<1024xf32>
        } -> tensor<1024xf32>
        dist.send %d to 0 backward on @mesh "pipe" number 1 : tensor<1024xf32>
        dist.yield
      } -> () results []
      return
    }
  }
}
