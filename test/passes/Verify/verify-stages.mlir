// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-stages

module @accepts_messages_in_both_directions {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      %r = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
      dist.send %x to 0 on @mesh "pipe" number 4 : tensor<4xf32>
      return
    }
  }
}

// -----

module @accepts_a_loop {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    func.func @infer() {
      dist.micro 3 "micro" () operands [] {
        %x = nn.constant dense<1.0> : tensor<4xf32>
        dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
        %r = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
        dist.yield
      } -> () results []
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    func.func @infer() {
      dist.micro 3 "micro" () operands [] {
        %x = nn.constant dense<1.0> : tensor<4xf32>
        %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
        dist.send %x to 0 on @mesh "pipe" number 4 : tensor<4xf32>
        dist.yield
      } -> () results []
      return
    }
  }
}

// -----

// S1
module @refuses_a_function_in_no_stage {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  // expected-error @+1 {{stages: @infer is in no stage}}
  func.func @infer() {
    return
  }
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
}

// -----

// S1
module @refuses_a_module_that_is_no_stage {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
  // expected-error @+1 {{stages: the module is no stage of 2}}
  module @stage.1 {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
}

// -----

// S1
module @refuses_a_stage_twice {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
  // expected-error @+1 {{stages: two modules are stage 0}}
  module @stage.1 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
}

// -----

// S1
module @refuses_another_mesh {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
  // expected-error @+1 {{stages: the mesh differs from that of the program}}
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [3]

  }
}

// -----

// S1
// expected-error @+1 {{stages: has 1 of 2 stages}}
module @refuses_a_missing_stage {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
  }
}

// -----

// S2
module @refuses_a_message_without_receiver {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: message 3 has a sender and no receiver}}
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
}

// -----

// S2
module @refuses_a_message_without_sender {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      // expected-error @+1 {{stages: message 3 has a receiver and no sender}}
      %r = dist.recv from 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
}

// -----

// S2
module @refuses_two_senders {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      // expected-error @+1 {{stages: message 3 has two senders}}
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
}

// -----

// S2
module @refuses_two_receivers {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
      // expected-error @+1 {{stages: message 3 has two receivers}}
      %s = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
}

// -----

// S2
module @refuses_another_stage {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: message 3 goes from stage 0 to 1, but stage 1 receives it from 1}}
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %r = dist.recv from 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
}

// -----

// S2
module @refuses_another_type {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: message 3 is sent as 'tensor<4xf32>' and received as 'tensor<5xf32>'}}
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<5xf32>
      return
    }
  }
}

// -----

module @accepts_a_reduction {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
  }
}

// -----

// S3
module @refuses_a_reduction_without_a_member {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: reduction 7 is among stages 0, 1, but stages 0 have it}}
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
}

// -----

// S3
module @refuses_a_reduction_twice {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      // expected-error @+1 {{stages: stage 0 has two reductions with number 7}}
      %z = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
  }
}

// -----

// S3
module @refuses_another_type_of_a_reduction {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<5xf32>
      // expected-error @+1 {{stages: reduction 7 is of 'tensor<5xf32>' among stages 0, 1, and in stage 0 of 'tensor<4xf32>' among 0, 1}}
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<5xf32>
      return
    }
  }
}

// -----

// S4
module @refuses_stages_that_wait_for_each_other {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: stage 0 waits for ever in @infer}}
      %r = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
      dist.send %x to 0 on @mesh "pipe" number 4 : tensor<4xf32>
      return
    }
  }
}

// -----

// S4
module @refuses_a_message_after_a_reduction {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: stage 0 waits for ever in @infer}}
      %r = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      %y = dist.stage_reduce %x among [0, 1] on @mesh "pipe" number 7 : tensor<4xf32>
      dist.send %x to 0 on @mesh "pipe" number 4 : tensor<4xf32>
      return
    }
  }
}

// -----

// S4
module @refuses_fewer_turns {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    func.func @infer() {
      dist.micro 3 "micro" () operands [] {
        // expected-error @+1 {{stages: stage 0 waits for ever in @infer}}
        %r = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
        dist.yield
      } -> () results []
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    func.func @infer() {
      dist.micro 2 "micro" () operands [] {
        %x = nn.constant dense<1.0> : tensor<4xf32>
        dist.send %x to 0 on @mesh "pipe" number 4 : tensor<4xf32>
        dist.yield
      } -> () results []
      return
    }
  }
}

// -----

module @accepts_a_state_on_two_stages {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
      return %w : tensor<4xf32>
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
      return %w : tensor<4xf32>
    }
  }
}

// -----

// S2
module @refuses_another_axis {
  dist.mesh @mesh axes ["data", "pipe"] sizes [2, 2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["data", "pipe"] sizes [2, 2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: an exchange along the axis 'data'}}
      dist.send %x to 1 on @mesh "data" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["data", "pipe"] sizes [2, 2]

  }
}

// -----

// S2
module @refuses_a_message_to_the_own_stage {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      // expected-error @+1 {{stages: stage 0 sends message 3 to itself}}
      dist.send %x to 0 on @mesh "pipe" number 3 : tensor<4xf32>
      %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]

  }
}

// -----

// S4
module @refuses_a_message_that_stays {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    func.func @infer() {
      dist.micro 3 "micro" () operands [] {
        %x = nn.constant dense<1.0> : tensor<4xf32>
        // expected-error @+1 {{stages: message 3 is sent more often than received}}
        dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4xf32>
        dist.yield
      } -> () results []
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
    func.func @infer() {
      dist.micro 2 "micro" () operands [] {
        %r = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4xf32>
        dist.yield
      } -> () results []
      return
    }
  }
}

// -----

// S5
module @refuses_a_result_of_two_stages {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer() -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      return %x : tensor<4xf32>
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    // expected-error @+1 {{stages: stages 0 and 1 return 'y'}}
    func.func @infer() -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
      %x = nn.constant dense<1.0> : tensor<4xf32>
      return %x : tensor<4xf32>
    }
  }
}

// -----

// S6
// expected-error @+1 {{stages: stages 0, 1 hold the state 'w', and stages 0 return its new value}}
module @refuses_a_state_without_its_new_value {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
      return %w : tensor<4xf32>
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) {
      return
    }
  }
}

// -----

// S6
// expected-error @+1 {{stages: stages 0, 1 hold the state 'w', and stages 0 return its new value}}
module @refuses_an_evaluation_with_an_old_state {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
      return %w : tensor<4xf32>
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @eval(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) {
      return
    }
  }
}

// -----

// S6
module @refuses_another_type_of_a_state {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @infer(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) {
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    // expected-error @+1 {{stages: the state 'w' is 'tensor<5xf32>' on stage 1 and 'tensor<4xf32>' elsewhere, or their layouts differ}}
    func.func @infer(%w: tensor<5xf32> {nn.arg = #nn.arg<parameter "w">}) {
      return
    }
  }
}
