// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-scheduled

// A sound program: in place, through a bucket, in a loop with slices.
module @accepts_sound_program attributes {exec.memory = #exec.memory<arena = 256, shared = 128, peak = 384, lowerBound = 0>} {
  func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
  exec.persistent @state.w #nn.arg<parameter "w"> arena at 0 : memref<4xf32>
  exec.entry @step {
    %w = exec.get @state.w : memref<4xf32>
    exec.launch @k(%w) into (%w) : (memref<4xf32>), (memref<4xf32>)
    %all = exec.buffer arena at 64 : memref<2x4xf32>
    exec.loop 2 {
      %slice = exec.view %all at 0 stride 16 : memref<2x4xf32> to memref<4xf32>
      exec.launch @k(%w) into (%slice) : (memref<4xf32>), (memref<4xf32>)
    }
    %s = exec.buffer shared at 0 : memref<2x4xf32>
    exec.copy %all to %s : memref<2x4xf32>
    %e = exec.start all_reduce sum over ["data"] %s to %s id 0 : memref<2x4xf32>, memref<2x4xf32>
    exec.launch @k(%w) into (%w) : (memref<4xf32>), (memref<4xf32>)
    exec.wait %e
    exec.copy %s to %all : memref<2x4xf32>
  }
}

// -----

// (L1) The plan has sizes ...
// expected-error@+1 {{level 'scheduled': has no exec.memory}}
module @refuses_missing_memory_sizes {
}

// -----

// ... every buffer a place ...
module @refuses_buffer_without_offset attributes {exec.memory = #exec.memory<arena = 128, shared = 0, peak = 64, lowerBound = 0>} {
  exec.entry @step {
    // expected-error@+1 {{level 'scheduled': has no offset}}
    %a = exec.buffer arena : memref<4xf32>
    exec.zero %a : memref<4xf32>
  }
}

// -----

// ... inside its space.
module @refuses_buffer_past_end attributes {exec.memory = #exec.memory<arena = 128, shared = 0, peak = 64, lowerBound = 0>} {
  exec.entry @step {
    // expected-error@+1 {{level 'scheduled': ends at byte 144 of arena, which has 128}}
    %a = exec.buffer arena at 128 : memref<4xf32>
    exec.zero %a : memref<4xf32>
  }
}

// -----

// (L2) Nobody reads what nobody wrote ...
module @refuses_read_before_write attributes {exec.memory = #exec.memory<arena = 128, shared = 0, peak = 64, lowerBound = 0>} {
  exec.persistent @input.x #nn.arg<input "x"> arena at 0 : memref<4xf32>
  exec.entry @step {
    %x = exec.get @input.x : memref<4xf32>
    %a = exec.buffer arena at 64 : memref<4xf32>
    // expected-error@+1 {{level 'scheduled': input (bytes [64, 80) of arena): byte 64 was never written}}
    exec.copy %a to %x : memref<4xf32>
  }
}

// -----

// ... nor, after one turn, the slices of two ...
module @refuses_read_of_missing_slice attributes {exec.memory = #exec.memory<arena = 128, shared = 0, peak = 64, lowerBound = 0>} {
  exec.entry @step {
    %a = exec.buffer arena at 0 : memref<2x4xf32>
    %b = exec.buffer arena at 64 : memref<2x4xf32>
    exec.loop 1 {
      %s = exec.view %a at 0 stride 16 : memref<2x4xf32> to memref<4xf32>
      exec.zero %s : memref<4xf32>
    }
    // expected-error@+1 {{level 'scheduled': input (bytes [0, 32) of arena): byte 16 was never written}}
    exec.copy %a to %b : memref<2x4xf32>
  }
}

// -----

// ... or what another buffer has overwritten.
module @refuses_read_after_overwrite attributes {exec.memory = #exec.memory<arena = 128, shared = 0, peak = 64, lowerBound = 0>} {
  exec.entry @step {
    %a = exec.buffer arena at 0 : memref<20xf32>
    exec.zero %a : memref<20xf32>
    // expected-note@+1 {{by this buffer}}
    %b = exec.buffer arena at 64 : memref<4xf32>
    exec.zero %b : memref<4xf32>
    %c = exec.buffer arena at 0 : memref<20xf32>
    // expected-error@+1 {{level 'scheduled': input (bytes [0, 80) of arena): byte 64 has been overwritten by another buffer}}
    exec.copy %a to %c : memref<20xf32>
  }
}

// -----

// (L3) A result lies on an operand only where the kernel computes in place.
module @refuses_in_place_without_alias attributes {exec.memory = #exec.memory<arena = 128, shared = 0, peak = 64, lowerBound = 0>} {
  func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
  exec.persistent @input.x #nn.arg<input "x"> arena at 0 : memref<4xf32>
  exec.entry @step {
    %x = exec.get @input.x : memref<4xf32>
    // expected-error@+1 {{level 'scheduled': result 0 lies on operand 0, but @k cannot compute in place}}
    exec.launch @k(%x) into (%x) : (memref<4xf32>), (memref<4xf32>)
  }
}

// -----

// (L3) What a kernel writes it writes once: two results share no bytes ...
module @refuses_overlapping_results attributes {exec.memory = #exec.memory<arena = 320, shared = 128, peak = 448, lowerBound = 0>} {
  func.func private @k(%a: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) { return %a, %a : tensor<32xf32>, tensor<32xf32> }
  exec.persistent @input.x #nn.arg<input "x"> arena at 0 : memref<32xf32>
  exec.entry @step {
    %x = exec.get @input.x : memref<32xf32>
    %a = exec.buffer arena at 128 : memref<32xf32>
    %b = exec.buffer arena at 192 : memref<32xf32>
    // expected-error@+1 {{level 'scheduled': result 1 and result 0 share bytes}}
    exec.launch @k(%x) into (%a, %b) : (memref<32xf32>), (memref<32xf32>, memref<32xf32>)
  }
}

// -----

// ... nor does its scratch memory with a result ...
module @refuses_scratch_on_result attributes {exec.memory = #exec.memory<arena = 320, shared = 128, peak = 448, lowerBound = 0>} {
  func.func private @k(%a: tensor<32xf32>) -> tensor<32xf32> attributes {exec.scratch_bytes = 16 : i64} { return %a : tensor<32xf32> }
  exec.persistent @input.x #nn.arg<input "x"> arena at 0 : memref<32xf32>
  exec.entry @step {
    %x = exec.get @input.x : memref<32xf32>
    %a = exec.buffer arena at 128 : memref<32xf32>
    %s = exec.buffer arena at 192 : memref<16xi8>
    // expected-error@+1 {{level 'scheduled': scratch and result 0 share bytes}}
    exec.launch @k(%x) into (%a) scratch (%s) : (memref<32xf32>), (memref<32xf32>), (memref<16xi8>)
  }
}

// -----

// ... or with an operand, which may be read until the end.
module @refuses_scratch_on_operand attributes {exec.memory = #exec.memory<arena = 320, shared = 128, peak = 448, lowerBound = 0>} {
  func.func private @k(%a: tensor<32xf32>) -> tensor<32xf32> attributes {exec.scratch_bytes = 16 : i64} { return %a : tensor<32xf32> }
  exec.persistent @input.x #nn.arg<input "x"> arena at 0 : memref<32xf32>
  exec.entry @step {
    %x = exec.get @input.x : memref<32xf32>
    %a = exec.buffer arena at 128 : memref<32xf32>
    %s = exec.buffer arena at 64 : memref<16xi8>
    // expected-error@+1 {{level 'scheduled': scratch lies on operand 0}}
    exec.launch @k(%x) into (%a) scratch (%s) : (memref<32xf32>), (memref<32xf32>), (memref<16xi8>)
  }
}

// -----

// (L4) Nothing reads what a collective writes ...
module @refuses_read_during_collective attributes {exec.memory = #exec.memory<arena = 128, shared = 64, peak = 128, lowerBound = 0>} {
  exec.entry @step {
    %a = exec.buffer arena at 0 : memref<4xf32>
    %s = exec.buffer shared at 0 : memref<4xf32>
    exec.zero %s : memref<4xf32>
    %e = exec.start all_reduce sum over ["data"] %s to %s id 0 : memref<4xf32>, memref<4xf32>
    // expected-error@+1 {{level 'scheduled': input (bytes [0, 16) of shared) is being written by a collective}}
    exec.copy %s to %a : memref<4xf32>
    exec.wait %e
  }
}

// -----

// ... nor writes what it reads.
module @refuses_write_during_collective attributes {exec.memory = #exec.memory<arena = 128, shared = 128, peak = 192, lowerBound = 0>} {
  exec.entry @step {
    %s = exec.buffer shared at 0 : memref<4xf32>
    %t = exec.buffer shared at 64 : memref<4xf32>
    exec.zero %s : memref<4xf32>
    %e = exec.start all_reduce sum over ["data"] %s to %t id 0 : memref<4xf32>, memref<4xf32>
    // expected-error@+1 {{level 'scheduled': output (bytes [0, 16) of shared) is in use by a collective}}
    exec.zero %s : memref<4xf32>
    exec.wait %e
  }
}

// -----

// (L4) An all-to-all does not write what it still has to send.
module @refuses_in_place_all_to_all attributes {exec.memory = #exec.memory<arena = 128, shared = 128, peak = 192, lowerBound = 0>} {
  exec.entry @step {
    %t = exec.buffer shared at 64 : memref<2x8xf32>
    %u = exec.buffer shared at 0 : memref<2x8xf32>
    exec.zero %u : memref<2x8xf32>
    %e = exec.start all_to_all sum over ["data"] %u to %t id 0 : memref<2x8xf32>, memref<2x8xf32>
    exec.wait %e
    // expected-error@+1 {{level 'scheduled': output (bytes [0, 64) of shared) lies on the input (bytes [0, 64) of shared), parts of which are still to be sent}}
    %f = exec.start all_to_all sum over ["data"] %u to %u id 1 : memref<2x8xf32>, memref<2x8xf32>
    exec.wait %f
  }
}

// -----

// (L4) A loop waits in each turn for what that turn started.
module @refuses_wait_across_loop attributes {exec.memory = #exec.memory<arena = 128, shared = 64, peak = 128, lowerBound = 0>} {
  exec.entry @step {
    %s = exec.buffer shared at 0 : memref<4xf32>
    exec.zero %s : memref<4xf32>
    %e = exec.start all_reduce sum over ["data"] %s to %s id 0 : memref<4xf32>, memref<4xf32>
    exec.loop 2 {
      // expected-error@+1 {{level 'scheduled': waits for what is not under way}}
      exec.wait %e
    }
  }
}

// -----

// (L4) A collective has something to move.
module @refuses_collective_of_unwritten attributes {exec.memory = #exec.memory<arena = 128, shared = 64, peak = 128, lowerBound = 0>} {
  exec.entry @step {
    %s = exec.buffer shared at 0 : memref<4xf32>
    // expected-error@+1 {{level 'scheduled': input (bytes [0, 16) of shared) was never written}}
    %e = exec.start all_reduce sum over ["data"] %s to %s id 0 : memref<4xf32>, memref<4xf32>
    exec.wait %e
  }
}

// -----

// (L2) What a bucket brings back is what went into it: not the bytes between
// its parts.
module @refuses_unwritten_part_of_bucket attributes {exec.memory = #exec.memory<arena = 128, shared = 64, peak = 128, lowerBound = 0>} {
  exec.entry @step {
    %a = exec.buffer arena at 0 : memref<4xf32>
    %s = exec.buffer shared at 0 : memref<4xf32>
    %part = exec.view %s at 0 : memref<4xf32> to memref<2xf32>
    exec.zero %part : memref<2xf32>
    %e = exec.start all_reduce sum over ["data"] %s to %s id 0 : memref<4xf32>, memref<4xf32>
    exec.wait %e
    // expected-error@+1 {{level 'scheduled': input (bytes [0, 16) of shared): byte 8 was never written}}
    exec.copy %s to %a : memref<4xf32>
  }
}

// -----

// Shares of the ranks: sound where each rank touches its own ...
module @accepts_own_shares_of_ranks attributes {exec.memory = #exec.memory<arena = 0, shared = 64, peak = 64, lowerBound = 0>} {
  dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
  func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
  exec.persistent @storage.p #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<8xf32>, <"[8]"> at 0>]> shared at 0 : memref<8xf32>
  exec.entry @step {
    %p = exec.get @storage.p : memref<8xf32>
    %v = exec.view %p at 0 stride 16 over ["data"] : memref<8xf32> to memref<4xf32>
    exec.launch @k(%v) into (%v) : (memref<4xf32>), (memref<4xf32>)
    %e = exec.start all_gather sum over ["data"] %v to %p id 0 : memref<4xf32>, memref<8xf32>
    exec.wait %e
  }
}

// -----

// ... but not where one finds its operand half overwritten by its share, as
// the second rank does here.
module @refuses_share_on_operand attributes {exec.memory = #exec.memory<arena = 0, shared = 64, peak = 64, lowerBound = 0>} {
  dist.mesh @mesh axes ["data"] sizes [2]
  func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
  exec.persistent @storage.p #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<8xf32>, <"[8]"> at 0>]> shared at 0 : memref<8xf32>
  exec.entry @step {
    %p = exec.get @storage.p : memref<8xf32>
    %w = exec.view %p at 0 : memref<8xf32> to memref<4xf32>
    %v = exec.view %p at 0 stride 8 over ["data"] : memref<8xf32> to memref<4xf32>
    // expected-error@+1 {{level 'scheduled': result 0 lies on operand 0, but @k cannot compute in place}}
    exec.launch @k(%w) into (%v) : (memref<4xf32>), (memref<4xf32>)
  }
}

// -----

// A message reads its buffer until its wait ...
module @refuses_write_of_sent_buffer attributes {exec.memory = #exec.memory<arena = 0, shared = 64, peak = 64, lowerBound = 0>} {
  exec.entry @step {
    %a = exec.buffer shared at 0 : memref<4xf32>
    exec.zero %a : memref<4xf32>
    %e = exec.start_send %a to 1 over "pipe" id 0 : memref<4xf32>
    // expected-error@+1 {{output (bytes [0, 16) of shared) is in use by a collective}}
    exec.zero %a : memref<4xf32>
    exec.wait %e
  }
}

// -----

// ... a received buffer has its contents after the wait ...
module @refuses_read_of_received_buffer_before_wait attributes {exec.memory = #exec.memory<arena = 64, shared = 64, peak = 128, lowerBound = 0>} {
  exec.entry @step {
    %a = exec.buffer shared at 0 : memref<4xf32>
    %b = exec.buffer arena at 0 : memref<4xf32>
    %e = exec.start_recv %a from 1 over "pipe" id 0 : memref<4xf32>
    // expected-error@+1 {{input (bytes [0, 16) of shared) is being written by a collective}}
    exec.copy %a to %b : memref<4xf32>
    exec.wait %e
  }
}

// -----

// ... and a sent one before the start.
module @refuses_send_of_empty_buffer attributes {exec.memory = #exec.memory<arena = 0, shared = 64, peak = 64, lowerBound = 0>} {
  exec.entry @step {
    %a = exec.buffer shared at 0 : memref<4xf32>
    // expected-error@+1 {{buffer (bytes [0, 16) of shared): byte 0 was never written}}
    %e = exec.start_send %a to 1 over "pipe" id 0 : memref<4xf32>
    exec.wait %e
  }
}

// -----

// The stages of a pipeline are simulated by themselves.
module @looks_into_stages {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0 : i64, exec.memory = #exec.memory<arena = 64, shared = 0, peak = 64, lowerBound = 0>} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    exec.entry @step {
      %a = exec.buffer arena at 0 : memref<4xf32>
      exec.zero %a : memref<4xf32>
    }
  }
  // expected-error@+1 {{level 'scheduled': has no exec.memory}}
  module @stage.1 attributes {dist.stage = 1 : i64} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
  }
}
