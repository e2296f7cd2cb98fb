// Kernels that the emulator is tested with. Every memref is static, so a kernel
// takes one device pointer an argument. Lines marked SEED are what make_ptx.py
// takes out or changes for kernels with errors.
#ws = #gpu.address_space<workgroup>
gpu.module @k {
  // y[i] += a * x[i] for i < n
  gpu.func @axpy(%a: f32, %n: i32, %x: memref<100003xf32>, %y: memref<100003xf32>) kernel {
    %b = gpu.block_id x  %t = gpu.thread_id x  %d = gpu.block_dim x  %o = arith.muli %b, %d : index  %i = arith.addi %o, %t : index
    %ni = arith.index_cast %n : i32 to index
    %in = arith.cmpi slt, %i, %ni : index // SEED:oob
    scf.if %in {
      %xv = memref.load %x[%i] : memref<100003xf32>  %yv = memref.load %y[%i] : memref<100003xf32>  %m = math.fma %a, %xv, %yv : f32
      memref.store %m, %y[%i] : memref<100003xf32>
    }
    gpu.return
  }

  // One block of 256 threads per row; warp shuffles, then a shared-memory reduction.
  gpu.func @layernorm(%x: memref<512x768xf32>, %g: memref<768xf32>, %be: memref<768xf32>,
                      %y: memref<512x768xf32>) workgroup(%red: memref<16xf32, #ws> {llvm.align = 16 : i64}) kernel {
    %row = gpu.block_id x  %t = gpu.thread_id x  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index  %c32 = arith.constant 32 : index  %c256 = arith.constant 256 : index  %c768 = arith.constant 768 : index
    %w32 = arith.constant 32 : i32  %i1 = arith.constant 1 : i32  %z = arith.constant 0.0 : f32  %inv = arith.constant 1.302083333e-3 : f32
    %eps = arith.constant 1.0e-5 : f32  %warp = arith.divui %t, %c32 : index  %lane = arith.remui %t, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    %s0 = scf.for %j = %t to %c768 step %c256 iter_args(%acc = %z) -> (f32) {
      %v = memref.load %x[%row, %j] : memref<512x768xf32>  %n = arith.addf %acc, %v : f32  scf.yield %n : f32
    }
    %i16 = arith.constant 16 : i32
    %s1, %oa = scf.while (%v = %s0, %off = %i16) : (f32, i32) -> (f32, i32) {
      %go = arith.cmpi sge, %off, %i1 : i32
      scf.condition(%go) %v, %off : f32, i32
    } do {
    ^bb0(%v: f32, %off: i32):
      %o, %p = gpu.shuffle xor %v, %off, %w32 : f32  %n = arith.addf %v, %o : f32  %h = arith.shrui %off, %i1 : i32
      scf.yield %n, %h : f32, i32
    }
    scf.if %first {
      memref.store %s1, %red[%warp] : memref<16xf32, #ws>
    }
    gpu.barrier // SEED:barrier
    %sum = scf.for %j = %c0 to %c8 step %c1 iter_args(%acc = %z) -> (f32) {
      %v = memref.load %red[%j] : memref<16xf32, #ws>  %n = arith.addf %acc, %v : f32  scf.yield %n : f32
    }
    %mean = arith.mulf %sum, %inv : f32
    %q0 = scf.for %j = %t to %c768 step %c256 iter_args(%acc = %z) -> (f32) {
      %v = memref.load %x[%row, %j] : memref<512x768xf32>  %d = arith.subf %v, %mean : f32  %n = math.fma %d, %d, %acc : f32
      scf.yield %n : f32
    }
    %q1, %ob = scf.while (%v = %q0, %off = %i16) : (f32, i32) -> (f32, i32) {
      %go = arith.cmpi sge, %off, %i1 : i32
      scf.condition(%go) %v, %off : f32, i32
    } do {
    ^bb0(%v: f32, %off: i32):
      %o, %p = gpu.shuffle down %v, %off, %w32 : f32  %n = arith.addf %v, %o : f32  %h = arith.shrui %off, %i1 : i32
      scf.yield %n, %h : f32, i32
    }
    scf.if %first {
      %k = arith.addi %warp, %c8 : index  memref.store %q1, %red[%k] : memref<16xf32, #ws>
    }
    gpu.barrier
    %sq = scf.for %j = %c0 to %c8 step %c1 iter_args(%acc = %z) -> (f32) {
      %k = arith.addi %j, %c8 : index  %v = memref.load %red[%k] : memref<16xf32, #ws>  %n = arith.addf %acc, %v : f32  scf.yield %n : f32
    }
    %var = arith.mulf %sq, %inv : f32  %ve = arith.addf %var, %eps : f32  %one = arith.constant 1.0 : f32  %root = llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"(%ve) : (f32) -> f32  %rs = arith.divf %one, %root : f32
    scf.for %j = %t to %c768 step %c256 {
      %v = memref.load %x[%row, %j] : memref<512x768xf32>  %gv = memref.load %g[%j] : memref<768xf32>
      %bv = memref.load %be[%j] : memref<768xf32>  %d = arith.subf %v, %mean : f32  %n = arith.mulf %d, %rs : f32
      %r = math.fma %n, %gv, %bv : f32  memref.store %r, %y[%row, %j] : memref<512x768xf32>
    }
    gpu.return
  }

  // C = A*B, 256^3, 16x16 tiles staged through shared memory.
  gpu.func @matmul(%a: memref<256x256xf32>, %b: memref<256x256xf32>, %c: memref<256x256xf32>)
      workgroup(%ta: memref<16x16xf32, #ws> {llvm.align = 16 : i64}, %tb: memref<16x16xf32, #ws> {llvm.align = 16 : i64}) kernel {
    %bx = gpu.block_id x  %by = gpu.block_id y  %tx = gpu.thread_id x  %ty = gpu.thread_id y  %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index  %c256 = arith.constant 256 : index  %z = arith.constant 0.0 : f32
    %ro = arith.muli %by, %c16 : index  %r = arith.addi %ro, %ty : index  %co = arith.muli %bx, %c16 : index
    %cc = arith.addi %co, %tx : index
    %res = scf.for %k = %c0 to %c256 step %c16 iter_args(%acc = %z) -> (f32) {
      %ka = arith.addi %k, %tx : index  %kb = arith.addi %k, %ty : index  %av = memref.load %a[%r, %ka] : memref<256x256xf32>
      %bv = memref.load %b[%kb, %cc] : memref<256x256xf32>  memref.store %av, %ta[%ty, %tx] : memref<16x16xf32, #ws>
      memref.store %bv, %tb[%ty, %tx] : memref<16x16xf32, #ws>  gpu.barrier
      %in = scf.for %q = %c0 to %c16 step %c1 iter_args(%s = %acc) -> (f32) {
        %u = memref.load %ta[%ty, %q] : memref<16x16xf32, #ws>  %v = memref.load %tb[%q, %tx] : memref<16x16xf32, #ws>
        %n = math.fma %u, %v, %s : f32  scf.yield %n : f32
      }
      gpu.barrier // SEED:war
      scf.yield %in : f32
    }
    memref.store %res, %c[%r, %cc] : memref<256x256xf32>  gpu.return
  }

  gpu.func @hist(%x: memref<65536xi32>, %h: memref<64xi32>, %f: memref<1xf32>) kernel {
    %b = gpu.block_id x  %t = gpu.thread_id x  %d = gpu.block_dim x  %c0 = arith.constant 0 : index  %one = arith.constant 1 : i32
    %fo = arith.constant 0.5 : f32  %o = arith.muli %b, %d : index  %i = arith.addi %o, %t : index
    %v = memref.load %x[%i] : memref<65536xi32>  %bin = arith.index_cast %v : i32 to index
    %r = memref.atomic_rmw addi %one, %h[%bin] : (i32, memref<64xi32>) -> i32
    %q = memref.atomic_rmw addf %fo, %f[%c0] : (f32, memref<1xf32>) -> f32  gpu.return
  }

  // One warp a row of 128 columns.
  gpu.func @softmax(%x: memref<64x128xf32>, %y: memref<64x128xf32>) kernel {
    %row = gpu.block_id x  %t = gpu.thread_id x  %c32 = arith.constant 32 : index  %c128 = arith.constant 128 : index
    %i1 = arith.constant 1 : i32  %i16 = arith.constant 16 : i32  %w32 = arith.constant 32 : i32  %z = arith.constant 0.0 : f32
    %lo = arith.constant 0xFF800000 : f32
    %m0 = scf.for %j = %t to %c128 step %c32 iter_args(%acc = %lo) -> (f32) {
      %v = memref.load %x[%row, %j] : memref<64x128xf32>  %n = arith.maxnumf %acc, %v : f32  scf.yield %n : f32
    }
    %m, %oa = scf.while (%v = %m0, %off = %i16) : (f32, i32) -> (f32, i32) {
      %go = arith.cmpi sge, %off, %i1 : i32
      scf.condition(%go) %v, %off : f32, i32
    } do {
    ^bb0(%v: f32, %off: i32):
      %o, %p = gpu.shuffle xor %v, %off, %w32 : f32  %n = arith.maxnumf %v, %o : f32  %h = arith.shrui %off, %i1 : i32
      scf.yield %n, %h : f32, i32
    }
    %s0 = scf.for %j = %t to %c128 step %c32 iter_args(%acc = %z) -> (f32) {
      %v = memref.load %x[%row, %j] : memref<64x128xf32>  %d = arith.subf %v, %m : f32  %log2e = arith.constant 1.44269504 : f32  %dl = arith.mulf %d, %log2e : f32
      %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.f"(%dl) : (f32) -> f32
      memref.store %e, %y[%row, %j] : memref<64x128xf32>  %n = arith.addf %acc, %e : f32  scf.yield %n : f32
    }
    %s, %ob = scf.while (%v = %s0, %off = %i16) : (f32, i32) -> (f32, i32) {
      %go = arith.cmpi sge, %off, %i1 : i32
      scf.condition(%go) %v, %off : f32, i32
    } do {
    ^bb0(%v: f32, %off: i32):
      %o, %p = gpu.shuffle xor %v, %off, %w32 : f32  %n = arith.addf %v, %o : f32  %h = arith.shrui %off, %i1 : i32
      scf.yield %n, %h : f32, i32
    }
    scf.for %j = %t to %c128 step %c32 {
      %v = memref.load %y[%row, %j] : memref<64x128xf32>  %d = arith.divf %v, %s : f32  memref.store %d, %y[%row, %j] : memref<64x128xf32>
    }
    gpu.return
  }

  gpu.func @bf16(%x: memref<4096xf32>, %h: memref<4096xbf16>, %y: memref<4096xf32>) kernel {
    %b = gpu.block_id x  %t = gpu.thread_id x  %d = gpu.block_dim x  %o = arith.muli %b, %d : index  %i = arith.addi %o, %t : index
    %v = memref.load %x[%i] : memref<4096xf32>  %n = arith.truncf %v : f32 to bf16  memref.store %n, %h[%i] : memref<4096xbf16>
    %m = memref.load %h[%i] : memref<4096xbf16>  %e = arith.extf %m : bf16 to f32  %q = arith.mulf %e, %e : f32
    memref.store %q, %y[%i] : memref<4096xf32>  gpu.return
  }

  // One warp: D[16x8] = A[16x16] * Bt[8x16]^T. A arrives by cp.async and
  // ldmatrix, B by plain loads; the product is one tensor-core instruction.
  gpu.func @mma(%a: memref<16x16xf16>, %bt: memref<8x16xf16>, %d: memref<16x8xf32>)
      workgroup(%sa: memref<16x16xf16, #ws> {llvm.align = 16 : i64}) kernel {
    %t = gpu.thread_id x  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index  %c16 = arith.constant 16 : index
    %z = arith.constant dense<0.0> : vector<2x2xf32>  %r = arith.divui %t, %c2 : index  %h = arith.remui %t, %c2 : index
    %cc = arith.muli %h, %c8 : index
    %tok = nvgpu.device_async_copy %a[%r, %cc], %sa[%r, %cc], 8 : memref<16x16xf16> to memref<16x16xf16, #ws>
    %grp = nvgpu.device_async_create_group %tok
    nvgpu.device_async_wait %grp {numGroups = 0 : i32} // SEED:cpasync
    gpu.barrier  %lr = arith.remui %t, %c16 : index  %lh = arith.divui %t, %c16 : index  %lc = arith.muli %lh, %c8 : index
    %af = nvgpu.ldmatrix %sa[%lr, %lc] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #ws> -> vector<4x2xf16>
    %gid = arith.divui %t, %c4 : index  %tig = arith.remui %t, %c4 : index  %k0 = arith.muli %tig, %c2 : index
    %k1 = arith.addi %k0, %c8 : index  %pad = arith.constant 0.0 : f16  %b0 = vector.load %bt[%gid, %k0] : memref<8x16xf16>, vector<2xf16>
    %b1 = vector.load %bt[%gid, %k1] : memref<8x16xf16>, vector<2xf16>  %bz = arith.constant dense<0.0> : vector<2x2xf16>
    %bx = vector.insert %b0, %bz [0] : vector<2xf16> into vector<2x2xf16>
    %bf = vector.insert %b1, %bx [1] : vector<2xf16> into vector<2x2xf16>
    %df = nvgpu.mma.sync(%af, %bf, %z) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %d0 = vector.extract %df[0] : vector<2xf32> from vector<2x2xf32>  %d1 = vector.extract %df[1] : vector<2xf32> from vector<2x2xf32>
    %g8 = arith.addi %gid, %c8 : index  vector.store %d0, %d[%gid, %k0] : memref<16x8xf32>, vector<2xf32>
    vector.store %d1, %d[%g8, %k0] : memref<16x8xf32>, vector<2xf32>  gpu.return
  }

  // A warp sums 32 integers in one instruction.
  gpu.func @redux(%x: memref<256xi32>, %y: memref<256xi32>) kernel {
    %t = gpu.thread_id x  %v = memref.load %x[%t] : memref<256xi32>
    %r = gpu.subgroup_reduce add %v uniform : (i32) -> i32  memref.store %r, %y[%t] : memref<256xi32>  gpu.return
  }

  // Three threads of a warp shuffle with all 32.
  gpu.func @diverge(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
    %t = gpu.thread_id x  %c3 = arith.constant 3 : index  %in = arith.cmpi ult, %t, %c3 : index
    scf.if %in {
      %v = memref.load %x[%t] : memref<32xf32>  %o = arith.constant 1 : i32  %w = arith.constant 32 : i32
      %s, %p = gpu.shuffle xor %v, %o, %w : f32  memref.store %s, %y[%t] : memref<32xf32>
    }
    gpu.return
  }
}
