// Instructions with which threads work together or reach memory in other ways
// than plain loads: shuffles, votes, barriers, matrix products, atomics, shared,
// local and generic memory.
#include "test/cuda_emulator/tests/Emulated.h"

#include <array>
#include <cmath>
#include <cstring>

using namespace dpc::test;

namespace {

/// A kernel of one block of `threads` threads: %ra is the word of `in` at the thread's
/// place, %t the thread; what `code` leaves in %rd goes to `out`.
struct Program {
  std::string code, declarations;
  unsigned threads = 32, dynamicShared = 0;
};

std::string textOf(const Program &program) {
  return R"(.version 7.8
.target sm_90
.address_size 64
)" + program.declarations +
         R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .pred %p, %q;
	.reg .b16 %h<8>;
	.reg .b32 %ra, %rb, %rc, %rd, %t, %r<32>;
	.reg .b64 %pi, %po, %base, %at, %l<8>;
	.reg .f32 %f<16>;
	.reg .f64 %d<8>;
	mov.u32 %t, %tid.x;
	ld.param.u64 %base, [in];
	ld.param.u64 %po, [out];
	cvta.to.global.u64 %base, %base;
	cvta.to.global.u64 %po, %po;
	mul.wide.u32 %at, %t, 4;
	add.s64 %pi, %base, %at;
	add.s64 %po, %po, %at;
	ld.global.u32 %ra, [%pi];
	)" +
         program.code + "\n\tst.global.u32 [%po], %rd;\n\tret;\n}\n";
}

std::vector<uint32_t> run(TestDevice &device, const Program &program,
                          const std::vector<uint32_t> &in) {
  device.loadText(textOf(program));
  device.dynamicShared = program.dynamicShared;
  Buffer<uint32_t> from(device, in), to(device, size_t(program.threads));
  device.launch("k", {1, 1}, {program.threads, 1}, device.stream, from.pointer, to.pointer);
  return to.get();
}

std::vector<uint32_t> words(size_t count) {
  std::mt19937 random(11);
  std::vector<uint32_t> values(count);
  for (uint32_t &value : values)
    value = random();
  return values;
}

/// Runs a program on random words, in every order of threads, checked and not.
void expectOut(const Program &program, const std::vector<uint32_t> &in,
               const std::function<uint32_t(unsigned)> &expected) {
  expectAssembles(textOf(program));
  for (const char *order : {"forward", "reverse", "random"})
    for (const char *check : {"0", "1"}) {
      const Ending ending = onDevice({{"ORDER", order}, {"CHECK", check}, {"SM", "90"}}, [&] {
        TestDevice device;
        const auto out = run(device, program, in);
        for (unsigned i = 0; i < out.size(); ++i)
          if (out[i] != expected(i)) {
            std::printf("thread %u: %x, not %x\n", i, out[i], expected(i));
            return 1;
          }
        return 0;
      });
      EXPECT_EQ(ending.status, 0) << order << ", checked " << check << ": " << ending.printed;
    }
}

TEST(PtxThreads, Shuffles) {
  const auto in = words(32);
  expectOut({"shfl.sync.up.b32 %rd|%p, %ra, 3, 0, -1;", "", 32}, in,
            [&](unsigned i) { return i >= 3 ? in[i - 3] : in[i]; });
  expectOut({"shfl.sync.down.b32 %rd, %ra, 5, 31, -1;", "", 32}, in,
            [&](unsigned i) { return i + 5 < 32 ? in[i + 5] : in[i]; });
  expectOut({"shfl.sync.idx.b32 %rd, %ra, 7, 31, -1;", "", 32}, in,
            [&](unsigned) { return in[7]; });
  expectOut({"shfl.sync.bfly.b32 %rd, %ra, 9, 31, -1;", "", 32}, in,
            [&](unsigned i) { return in[i ^ 9]; });
  // Segments of eight lanes: the mask 0x18 in the high part of the clamp.
  expectOut({"shfl.sync.down.b32 %rd|%p, %ra, 2, 6175, -1;\n\t@!%p mov.u32 %rd, 0;", "", 32}, in,
            [&](unsigned i) { return i % 8 + 2 < 8 ? in[i + 2] : 0; });
  expectOut({"shfl.sync.idx.b32 %rd, %ra, 1, 6175, -1;", "", 32}, in,
            [&](unsigned i) { return in[i / 8 * 8 + 1]; });
}

TEST(PtxThreads, Votes) {
  const auto in = words(32);
  uint32_t odd = 0;
  for (unsigned i = 0; i < 32; ++i)
    odd |= (in[i] & 1) << i;
  const std::string test = "and.b32 %rb, %ra, 1;\n\tsetp.ne.u32 %p, %rb, 0;\n\t";
  expectOut({test + "vote.sync.ballot.b32 %rd, %p, -1;", "", 32}, in,
            [&](unsigned) { return odd; });
  expectOut({test + "vote.sync.any.pred %q, %p, -1;\n\tselp.u32 %rd, 1, 0, %q;", "", 32}, in,
            [&](unsigned) { return odd ? 1u : 0u; });
  expectOut({test + "vote.sync.all.pred %q, %p, -1;\n\tselp.u32 %rd, 1, 0, %q;", "", 32}, in,
            [&](unsigned) { return odd == ~0u ? 1u : 0u; });
  // Half of the lanes by themselves.
  expectOut(
      {"setp.lt.u32 %p, %t, 16;\n\tmov.u32 %rd, 9;\n\t@%p redux.sync.max.u32 %rd, %ra, 0xffff;", "",
       32},
      in, [&](unsigned i) { return i < 16 ? *std::max_element(in.begin(), in.begin() + 16) : 9; });
  expectOut({"redux.sync.min.s32 %rd, %ra, -1;", "", 32}, in, [&](unsigned) {
    int32_t least = INT32_MAX;
    for (uint32_t value : in)
      least = std::min(least, static_cast<int32_t>(value));
    return static_cast<uint32_t>(least);
  });
  expectOut({"redux.sync.xor.b32 %rd, %ra, -1;", "", 32}, in, [&](unsigned) {
    uint32_t all = 0;
    for (uint32_t value : in)
      all ^= value;
    return all;
  });
}

const char *const kStatic = ".shared .align 16 .b8 tile[1024];\n";

TEST(PtxThreads, SharedMemoryAndBarriers) {
  const auto in = words(128);
  const std::string address =
      "mov.u64 %l0, tile;\n\tadd.s64 %l1, %l0, %at;\n\t"
      "sub.u32 %rb, 127, %t;\n\tmul.wide.u32 %l2, %rb, 4;\n\tadd.s64 %l2, %l0, %l2;\n\t";
  const std::string turn = "st.shared.u32 [%l1], %ra;\n\tbar.sync 0;\n\tld.shared.u32 %rd, [%l2];";
  auto reversed = [&](unsigned i) { return in[127 - i]; };
  expectOut({address + turn, kStatic, 128}, in, reversed);
  expectOut({address + turn, ".extern .shared .align 16 .b8 tile[];\n", 128, 512}, in, reversed);
  // A barrier of a warp is enough for the warp.
  expectOut({"mov.u64 %l0, tile;\n\tadd.s64 %l1, %l0, %at;\n\txor.b32 %rb, %t, 31;\n\t"
             "mul.wide.u32 %l2, %rb, 4;\n\tadd.s64 %l2, %l0, %l2;\n\tst.shared.u32 [%l1], %ra;\n\t"
             "bar.warp.sync -1;\n\tld.shared.u32 %rd, [%l2];",
             kStatic, 128},
            in, [&](unsigned i) { return in[i ^ 31]; });
  // Generic addresses reach shared memory too.
  expectOut({address + "cvta.shared.u64 %l3, %l1;\n\tst.u32 [%l3], %ra;\n\tbar.sync 0;\n\t"
                       "cvta.shared.u64 %l4, %l2;\n\tld.u32 %rd, [%l4];",
             kStatic, 128},
            in, reversed);
}

TEST(PtxThreads, LocalAndGlobalVariables) {
  const auto in = words(32);
  expectOut(
      {".local .align 8 .b8 spill[64];\n\tmov.u64 %l0, spill;\n\tst.local.u32 [%l0+4], %ra;\n\t"
       "cvta.local.u64 %l1, %l0;\n\tld.u32 %rd, [%l1+4];",
       "", 32},
      in, [&](unsigned i) { return in[i]; });
  expectOut({"mov.u64 %l0, table;\n\tand.b32 %rb, %t, 3;\n\tmul.wide.u32 %l1, %rb, 4;\n\t"
             "add.s64 %l0, %l0, %l1;\n\tld.global.u32 %rd, [%l0];",
             ".visible .global .align 4 .u32 table[4] = {10, 20, 30};\n", 32},
            in, [&](unsigned i) { return i % 4 < 3 ? (i % 4 + 1) * 10 : 0; });
}

TEST(PtxThreads, NarrowAndVectorLoads) {
  const auto in = words(128);
  const auto *bytes = reinterpret_cast<const uint8_t *>(in.data());
  expectOut(
      {"cvt.u64.u32 %l0, %t;\n\tadd.s64 %l0, %base, %l0;\n\tld.global.s8 %rd, [%l0+3];", "", 32},
      in, [&](unsigned i) { return static_cast<uint32_t>(static_cast<int8_t>(bytes[i + 3])); });
  expectOut({"mul.wide.u32 %l0, %t, 2;\n\tadd.s64 %l0, %base, %l0;\n\tld.global.u16 %h0, [%l0];\n\t"
             "cvt.u32.u16 %rd, %h0;",
             "", 32},
            in,
            [&](unsigned i) { return uint32_t(bytes[2 * i]) | uint32_t(bytes[2 * i + 1]) << 8; });
  expectOut({"mul.wide.u32 %l0, %t, 16;\n\tadd.s64 %l0, %base, %l0;\n\t"
             "ld.global.nc.v4.u32 {%r0, %r1, %r2, %r3}, [%l0];\n\tadd.s32 %rd, %r0, %r1;\n\t"
             "xor.b32 %rd, %rd, %r2;\n\tsub.s32 %rd, %rd, %r3;",
             "", 32},
            in, [&](unsigned i) {
              return ((in[4 * i] + in[4 * i + 1]) ^ in[4 * i + 2]) - in[4 * i + 3];
            });
}

TEST(PtxThreads, Atomics) {
  const std::vector<uint32_t> in(32, 1);
  const std::string clear = "mov.u64 %l0, tile;\n\tsetp.eq.u32 %p, %t, 0;\n\tmov.u32 %rb, "
                            "5;\n\t@%p st.shared.u32 [%l0], %rb;\n\tbar.sync 0;\n\t";
  const std::string get = "\n\tbar.sync 0;\n\tld.shared.u32 %rd, [%l0];";
  expectOut({clear + "atom.shared.add.u32 %rc, [%l0], %ra;" + get, kStatic, 32}, in,
            [](unsigned) { return 37u; });
  expectOut({clear + "red.shared.max.u32 [%l0], %t;" + get, kStatic, 32}, in,
            [](unsigned) { return 31u; });
  expectOut({clear + "atom.shared.cas.b32 %rc, [%l0], 5, 77;" + get, kStatic, 32}, in,
            [](unsigned) { return 77u; });
  expectOut({clear + "atom.shared.exch.b32 %rc, [%l0], 3;" + get, kStatic, 32}, in,
            [](unsigned) { return 3u; });
}

TEST(PtxThreads, AsyncCopies) {
  const auto in = words(64);
  const std::string address = "mov.u64 %l0, tile;\n\tcvt.u32.u64 %rb, %l0;\n\tmul.wide.u32 %l1, "
                              "%t, 8;\n\tadd.s64 %l2, %l0, %l1;\n\tadd.s64 %l3, %base, %l1;\n\t";
  expectOut(
      {address +
           "cp.async.ca.shared.global [%l2], [%l3], "
           "8;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;\n\tld.shared.u32 %rd, [%l2+4];",
       kStatic, 32},
      in, [&](unsigned i) { return in[2 * i + 1]; });
  // Of eight bytes four are copied and four zeroed.
  expectOut({address + "mov.u32 %rc, 4;\n\tcp.async.ca.shared.global [%l2], [%l3], 8, "
                       "%rc;\n\tcp.async.wait_all;\n\tld.shared.v2.u32 {%r0, %r1}, "
                       "[%l2];\n\tadd.s32 %rd, %r0, %r1;",
             kStatic, 32},
            in, [&](unsigned i) { return in[2 * i]; });
  // With no bytes to copy, the address is not read, so it may be any.
  expectOut({address + "mov.u32 %rc, 0;\n\tadd.s64 %l3, %l3, 1048576;\n\tcp.async.ca.shared.global "
                       "[%l2], [%l3], 8, %rc;\n\tcp.async.wait_all;\n\tld.shared.u32 %rd, [%l2];",
             kStatic, 32},
            in, [&](unsigned) { return 0; });
  // A predicate says that nothing is read.
  expectOut({address + "setp.ge.u32 %q, %t, 16;\n\t@%q add.s64 %l3, %l3, 1048576;\n\t"
                       "cp.async.ca.shared.global [%l2], [%l3], 8, %q;\n\tcp.async.wait_all;\n\t"
                       "ld.shared.u32 %rd, [%l2];",
             kStatic, 32},
            in, [&](unsigned i) { return i < 16 ? in[2 * i] : 0; });
  // A group that is still under way has not arrived: NaN stands there.
  expectOut({address + "cp.async.ca.shared.global [%l2], [%l3], "
                       "4;\n\tcp.async.commit_group;\n\tcp.async.ca.shared.global [%l2+4], "
                       "[%l3+4], 4;\n\tcp.async.commit_group;\n\tcp.async.wait_group "
                       "1;\n\tld.shared.u32 %r0, [%l2];\n\tld.shared.u32 %r1, "
                       "[%l2+4];\n\tcp.async.wait_group 0;\n\tsub.s32 %rd, %r0, %r1;",
             kStatic, 32},
            in, [&](unsigned i) { return in[2 * i] + 1; });
}

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// Element (row, column) of a small matrix of integers that narrow floats hold.
int element(unsigned row, unsigned column, unsigned seed) {
  return static_cast<int>((row * 5 + column * 3 + seed) % 9) - 4;
}

/// The product of an m x k matrix and a k x n one at (row, column).
int productAt(unsigned row, unsigned column, unsigned k) {
  int sum = 0;
  for (unsigned q = 0; q < k; ++q)
    sum += element(row, q, 1) * element(q, column, 2);
  return sum;
}

/// Fragments come from `in`: word w of lane i at w * 32 + i. Result `i` of the four goes out.
std::string loads(unsigned wordsOfLane) {
  std::string text;
  for (unsigned w = 0; w < wordsOfLane; ++w)
    text += "ld.global.b32 %r" + std::to_string(w) + ", [%pi+" + std::to_string(w * 128) + "];\n\t";
  return text;
}

TEST(PtxThreads, MatrixProductOfTf32) {
  // PTX ISA, fragments of mma.m16n8k8 of tf32.
  std::vector<uint32_t> in(6 * 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, member = lane % 4;
    for (unsigned w = 0; w < 4; ++w)
      in[w * 32 + lane] =
          bitsOf(static_cast<float>(element(group + w % 2 * 8, member + w / 2 * 4, 1)));
    for (unsigned w = 0; w < 2; ++w)
      in[(4 + w) * 32 + lane] = bitsOf(static_cast<float>(element(member + w * 4, group, 2)));
  }
  for (unsigned i = 0; i < 4; ++i)
    expectOut({loads(6) +
                   "mov.f32 %f0, 0f00000000;\n\tmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                   "{%f4, %f5, %f6, %f7}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f0, %f0, "
                   "%f0};\n\tmov.b32 %rd, %f" +
                   std::to_string(4 + i) + ";",
               "", 32},
              in, [&](unsigned lane) {
                return bitsOf(
                    static_cast<float>(productAt(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2, 8)));
              });
}

TEST(PtxThreads, MatrixProductOfBfloat) {
  // PTX ISA, fragments of mma.m16n8k16 of .bf16: two elements a word.
  std::vector<uint32_t> in(6 * 32);
  auto pair = [](int low, int high) {
    return bitsOf(static_cast<float>(low)) >> 16 | (bitsOf(static_cast<float>(high)) & 0xffff0000u);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, member = lane % 4;
    for (unsigned w = 0; w < 4; ++w) {
      const unsigned row = group + w % 2 * 8, column = member * 2 + w / 2 * 8;
      in[w * 32 + lane] = pair(element(row, column, 1), element(row, column + 1, 1));
    }
    for (unsigned w = 0; w < 2; ++w) {
      const unsigned row = member * 2 + w * 8;
      in[(4 + w) * 32 + lane] = pair(element(row, group, 2), element(row + 1, group, 2));
    }
  }
  for (unsigned i = 0; i < 4; ++i)
    expectOut(
        {loads(6) +
             "mov.f32 %f0, 0f3F800000;\n\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
             "{%f4, %f5, %f6, %f7}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f0, %f0, "
             "%f0};\n\tmov.b32 %rd, %f" +
             std::to_string(4 + i) + ";",
         "", 32},
        in, [&](unsigned lane) {
          return bitsOf(
              1 + static_cast<float>(productAt(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2, 16)));
        });
}

TEST(PtxThreads, MatrixProductOfF64) {
  // PTX ISA, fragments of mma.m8n8k4 of .f64: one element of each factor a lane.
  std::vector<uint32_t> in(2 * 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    in[lane] = bitsOf(static_cast<float>(element(lane / 4, lane % 4, 1)));
    in[32 + lane] = bitsOf(static_cast<float>(element(lane % 4, lane / 4, 2)));
  }
  for (unsigned i = 0; i < 2; ++i)
    expectOut({loads(2) +
                   "mov.b32 %f0, %r0;\n\tmov.b32 %f1, %r1;\n\tcvt.f64.f32 %d0, %f0;\n\tcvt.f64.f32 "
                   "%d1, %f1;\n\tmov.f64 %d2, "
                   "0d4000000000000000;\n\tmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, "
                   "%d5}, {%d0}, {%d1}, {%d2, %d2};\n\tcvt.rn.f32.f64 %f2, %d" +
                   std::to_string(4 + i) + ";\n\tmov.b32 %rd, %f2;",
               "", 32},
              in, [&](unsigned lane) {
                return bitsOf(2 + static_cast<float>(productAt(lane / 4, lane % 4 * 2 + i, 4)));
              });
}

TEST(PtxThreads, TransposedMatrixLoads) {
  // One 8 x 8 tile of 16-bit words: lane i has row i's address, and gets two words.
  std::vector<uint32_t> in(32);
  for (unsigned i = 0; i < 32; ++i)
    in[i] = (2 * i) | (2 * i + 1) << 16; // element e of the tile is e
  const std::string fill =
      "mov.u64 %l0, tile;\n\tadd.s64 %l1, %l0, %at;\n\tst.shared.u32 [%l1], %ra;\n\tbar.sync "
      "0;\n\tand.b32 %rb, %t, 7;\n\tmul.wide.u32 %l2, %rb, 16;\n\tadd.s64 %l2, %l0, %l2;\n\t";
  expectOut({fill + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%rd}, [%l2];", kStatic, 32}, in,
            [&](unsigned i) { return in[i]; });
  expectOut({fill + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%rd}, [%l2];", kStatic, 32},
            in, [&](unsigned i) {
              const unsigned row = i % 4 * 2, column = i / 4;
              return (row * 8 + column) | ((row + 1) * 8 + column) << 16;
            });
}

} // namespace
