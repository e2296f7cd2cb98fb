// The counters of memory accesses: kernels whose lines and wavefronts are known.
#include "test/cuda_emulator/tests/CountedKernel.h"

#include <sys/resource.h>

using namespace dpc::test;

namespace {

using Fields = std::map<std::string, long long>;

/// One access of global memory by each of `threads` threads.
void expectGlobal(const std::string &code, const Fields &expected, unsigned threads = 32) {
  Fields all = expected;
  for (const char *none : {"shared_accesses", "shared_requested", "wavefronts", "least_wavefronts"})
    all[none] = 0;
  expectCounts({code, threads}, all);
}

TEST(EmulatorCounters, NeighboursShareLines) {
  expectGlobal("ld.global.f32 %f0, [%a];",
               {{"requested", 256},
                {"accesses", 2},
                {"lines", 2},
                {"least_lines", 2},
                {"distinct", 256},
                {"4", 256}},
               64);
}

TEST(EmulatorCounters, RowPerThread) {
  expectGlobal(
      "mul.wide.u32 %l0, %t, 4096;\n\tadd.s64 %l0, %l0, %p;\n\tst.global.f32 [%l0], 0f00000000;",
      {{"requested", 128},
       {"accesses", 1},
       {"lines", 32},
       {"least_lines", 1},
       {"distinct", 32 * 32}});
}

TEST(EmulatorCounters, RunThatBeginsInALine) {
  expectGlobal(
      "ld.global.f32 %f0, [%a+4];",
      {{"requested", 128}, {"accesses", 1}, {"lines", 2}, {"least_lines", 1}, {"distinct", 160}});
}

TEST(EmulatorCounters, EveryWidth) {
  // Of a copy of 16 bytes per thread no line is touched twice.
  expectGlobal("mul.wide.u32 %l0, %t, 16;\n\tadd.s64 %l0, %l0, %p;\n\t"
               "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%l0];",
               {{"requested", 512},
                {"accesses", 1},
                {"lines", 4},
                {"least_lines", 4},
                {"distinct", 512},
                {"16", 512}});
  expectGlobal("mul.wide.u32 %l0, %t, 8;\n\tadd.s64 %l0, %l0, %p;\n\t"
               "ld.global.v2.f32 {%f0, %f1}, [%l0];\n\tst.global.u64 [%l0], %l0;",
               {{"requested", 512},
                {"accesses", 2},
                {"lines", 4},
                {"least_lines", 4},
                {"distinct", 256},
                {"8", 512}});
  expectGlobal("mul.wide.u32 %l0, %t, 2;\n\tadd.s64 %l0, %l0, %p;\n\tld.global.u16 %h0, [%l0];",
               {{"requested", 64},
                {"accesses", 1},
                {"lines", 1},
                {"least_lines", 1},
                {"distinct", 64},
                {"2", 64}});
  expectGlobal("cvt.u64.u32 %l0, %t;\n\tadd.s64 %l0, %l0, %p;\n\tld.global.u8 %h0, [%l0];\n\t"
               "ld.global.f32 %f0, [%a];",
               {{"requested", 160},
                {"accesses", 2},
                {"lines", 2},
                {"least_lines", 2},
                {"distinct", 128},
                {"1", 32},
                {"4", 128}});
}

TEST(EmulatorCounters, Broadcast) {
  expectGlobal(
      "ld.global.f32 %f0, [%p+124];",
      {{"requested", 128}, {"accesses", 1}, {"lines", 1}, {"least_lines", 1}, {"distinct", 32}});
}

TEST(EmulatorCounters, PartialWarps) {
  expectGlobal(
      "ld.global.f32 %f0, [%a];",
      {{"requested", 160}, {"accesses", 2}, {"lines", 2}, {"least_lines", 2}, {"distinct", 160}},
      40);
  expectGlobal(
      "setp.lt.u32 %q, %t, 8;\n\t@%q ld.global.f32 %f0, [%a];",
      {{"requested", 32}, {"accesses", 1}, {"lines", 1}, {"least_lines", 1}, {"distinct", 32}});
}

TEST(EmulatorCounters, GenericAddresses) {
  expectCounts({"ld.f32 %f0, [%a];\n\tcvt.u64.u32 %l0, %s;\n\tcvta.shared.u64 %l0, %l0;\n\t"
                "mul.wide.u32 %l1, %t, 128;\n\tadd.s64 %l0, %l0, %l1;\n\tst.f32 [%l0], %f0;"},
               {{"requested", 128},
                {"accesses", 1},
                {"lines", 1},
                {"shared_requested", 128},
                {"shared_accesses", 1},
                {"wavefronts", 32},
                {"local", 0}});
}

TEST(EmulatorCounters, LocalMemoryIsApart) {
  expectCounts(
      {"mov.u64 %l0, own;\n\tst.local.f32 [%l0], 0f00000000;\n\t"
       "cvta.local.u64 %l0, %l0;\n\tld.v2.f32 {%f0, %f1}, [%l0];"},
      {{"local", 32 * (4 + 8)}, {"accesses", 0}, {"requested", 0}, {"shared_accesses", 0}});
}

TEST(EmulatorCounters, LargeLocalMemory) {
  expectCounts(
      {".local .align 16 .b8 large[262144];\n\tmov.u64 %l0, large;\n\t"
       "mul.wide.u32 %l1, %t, 8192;\n\tadd.s64 %l0, %l0, %l1;\n\t"
       "st.local.f32 [%l0], 0f00000000;\n\tsub.u32 %r0, 31, %t;\n\tmov.u64 %l0, large;\n\t"
       "mul.wide.u32 %l1, %r0, 8192;\n\tadd.s64 %l0, %l0, %l1;\n\tld.local.f32 %f0, [%l0];\n\t"
       "st.global.f32 [%a], %f0;\n\tbar.sync 0;"},
      {{"local", 32 * 8}, {"accesses", 1}});
}

TEST(EmulatorCounters, AtomicsAreAccesses) {
  expectCounts({"red.global.add.f32 [%a], 0f00000000;\n\tatom.shared.add.u32 %r0, [%s], 1;"},
               {{"requested", 128},
                {"accesses", 1},
                {"lines", 1},
                {"shared_accesses", 1},
                {"shared_requested", 128},
                {"wavefronts", 1},
                {"least_wavefronts", 1}});
}

TEST(EmulatorCounters, AsyncCopyReadsGlobalAndWritesShared) {
  const std::string code = "mul.wide.u32 %l0, %t, 16;\n\tadd.s64 %l0, %l0, %p;\n\t"
                           "shl.b32 %r0, %t, 4;\n\tadd.s32 %r0, %r0, %s;\n\t";
  const std::string wait = "\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;";
  expectCounts({code + "cp.async.cg.shared.global [%r0], [%l0], 16;" + wait},
               {{"requested", 512},
                {"accesses", 1},
                {"lines", 4},
                {"least_lines", 4},
                {"shared_requested", 512},
                {"wavefronts", 4},
                {"least_wavefronts", 4}});
  // The last 16 lanes read nothing, and write zeros.
  for (const char *copy : {"setp.lt.u32 %q, %t, 16;\n\tselp.u32 %r1, 16, 0, %q;\n\t"
                           "cp.async.cg.shared.global [%r0], [%l0], 16, %r1;",
                           "setp.ge.u32 %q, %t, 16;\n\t"
                           "cp.async.cg.shared.global [%r0], [%l0], 16, %q;"})
    expectCounts({code + copy + wait}, {{"requested", 256},
                                        {"accesses", 1},
                                        {"lines", 2},
                                        {"least_lines", 2},
                                        {"shared_requested", 512},
                                        {"wavefronts", 4},
                                        {"least_wavefronts", 4}});
}

/// One access of shared memory by each of 32 threads, `stride` bytes apart.
void expectWavefronts(const std::string &access, unsigned stride, long long wavefronts,
                      long long least) {
  expectCounts(
      {"mul.lo.u32 %r0, %t, " + std::to_string(stride) + ";\n\tadd.s32 %r0, %r0, %s;\n\t" + access},
      {{"accesses", 0},
       {"shared_accesses", 1},
       {"wavefronts", wavefronts},
       {"least_wavefronts", least}});
}

TEST(EmulatorCounters, BanksOfSharedMemory) {
  const std::string word = "st.shared.f32 [%r0], 0f00000000;";
  expectWavefronts(word, 4, 1, 1);
  expectWavefronts(word, 8, 2, 1);
  expectWavefronts(word, 128, 32, 1); // a stride of 32 words: all lanes use one bank
  expectWavefronts(word, 132, 1, 1);
  expectWavefronts(word, 0, 1, 1);                        // a broadcast
  expectWavefronts("st.shared.u16 [%r0], 0;", 2, 1, 1);   // two lanes share a word
  expectWavefronts("st.shared.u16 [%r0], 0;", 130, 2, 1); // lanes 2 n and 2 n + 1 use bank n
}

TEST(EmulatorCounters, WideSharedAccessesHavePhases) {
  const std::string two = "ld.shared.v2.f32 {%f0, %f1}, [%r0];",
                    four = "ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r0];";
  expectWavefronts(two, 8, 2, 2);
  expectWavefronts(two, 16, 4, 2); // lanes 0 and 8 use the same banks
  expectWavefronts(two, 128, 32, 2);
  expectWavefronts(two, 0, 2, 2); // the halves share no wavefront
  expectWavefronts(four, 16, 4, 4);
  expectWavefronts(four, 32, 8, 4); // lanes 0 and 4
  expectWavefronts(four, 144, 4, 4);
  expectWavefronts(four, 0, 4, 4);
}

TEST(EmulatorCounters, MatrixLoadsReadRowsOfEightLanes) {
  const std::string four = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];";
  expectWavefronts(four, 16, 4, 4);
  expectWavefronts(four, 128, 32, 4);
  expectWavefronts(four, 144, 4, 4);
  // The addresses of other lanes than the first eight mean nothing.
  expectWavefronts("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];", 16, 1, 1);
  expectWavefronts("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r0];", 128, 16, 2);
}

/// A loop in which %i counts from 0 while it is less than `end`.
std::string loop(const std::string &end, const std::string &body) {
  return "mov.u32 %i, 0;\nagain:\n\t" + body + "\n\tadd.s32 %i, %i, 1;\n\tsetp.lt.u32 %q2, %i, " +
         end + ";\n\t@%q2 bra again;";
}

TEST(EmulatorCounters, LoopsJoinTheSameIterations) {
  // Each iteration reads one line, and all lanes take part.
  const std::string body = "mul.wide.u32 %l0, %i, 128;\n\tadd.s64 %l0, %l0, %a;\n\t"
                           "ld.global.f32 %f0, [%l0];";
  expectCountsInEveryOrder({loop("1000", body), 64}, {{"accesses", 2000},
                                                      {"requested", 256000},
                                                      {"lines", 2000},
                                                      {"least_lines", 2000},
                                                      {"distinct", 128 * 1001}});
  // Lane n leaves after n + 1 iterations.
  expectCountsInEveryOrder({"add.s32 %r0, %t, 1;\n\t" + loop("%r0", body)},
                           {{"accesses", 32}, {"requested", 4 * 32 * 33 / 2}, {"lines", 32}});
  // Of each warp only one lane enters, and goes farther than others may follow.
  expectCountsInEveryOrder(
      {"and.b32 %r0, %t, 31;\n\tsetp.ne.u32 %q, %r0, 0;\n\t@%q bra behind;\n\t" +
           loop("1000", body) + "\nbehind:\n\tbar.sync 0;",
       64},
      {{"accesses", 2000}, {"requested", 8000}, {"lines", 2000}});
}

TEST(EmulatorCounters, LanesThatTakeOtherPaths) {
  // Odd lanes read the second KiB, in a loop of their own.
  const std::string even = "ld.global.f32 %f0, [%a];", odd = "ld.global.f32 %f0, [%a+1024];";
  expectCountsInEveryOrder(
      {"and.b32 %r0, %t, 1;\n\tsetp.eq.u32 %q, %r0, 1;\n\t@%q bra other;\n\t" + loop("200", even) +
       "\n\tbra behind;\nother:\n\tmov.u32 %i, 0;\nmore:\n\t" + odd +
       "\n\tadd.s32 %i, %i, 1;\n\tsetp.lt.u32 %q2, %i, 300;\n\t@%q2 bra more;\nbehind:\n\t"
       "bar.sync 0;"},
      {{"accesses", 500}, {"requested", 64 * 500}, {"lines", 500}, {"least_lines", 500}});
}

TEST(EmulatorCounters, LanesThatMeetAreAtTheSameExecution) {
  // In iteration n the lanes before 2^n read: the first read of lane 16 is the fifth of lane 0.
  for (const char *meeting :
       {"bar.sync 0;", "bar.warp.sync -1;", "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;"})
    expectCountsInEveryOrder(
        {loop("6", std::string("shl.b32 %r1, 1, %i;\n\tsetp.lt.u32 %q, %t, %r1;\n\t"
                               "mul.wide.u32 %l0, %i, 4096;\n\tadd.s64 %l0, %l0, %a;\n\t"
                               "@%q ld.global.f32 %f0, [%l0];\n\t") +
                       meeting)},
        {{"accesses", 6}, {"requested", 4 * 63}, {"lines", 6}, {"least_lines", 6}});
}

TEST(EmulatorCounters, BarriersOfSomeThreadsEndNoAccessOfOthers) {
  expectCountsInEveryOrder(
      {"setp.lt.u32 %q, %t, 32;\n\t@%q bar.sync 1, 32;\n\tld.global.f32 %f0, [%a];\n\t"
       "bar.sync 0;",
       1024},
      {{"accesses", 32}, {"requested", 4096}});
  expectCountsInEveryOrder(
      {"setp.lt.u32 %q, %t, 16;\n\t@%q bar.warp.sync 0xffff;\n\tld.global.f32 %f0, [%a];\n\t"
       "bar.sync 0;"},
      {{"accesses", 1}, {"requested", 128}});
}

TEST(EmulatorCounters, BlocksCountTogether) {
  expectCountsInEveryOrder(
      {"ld.global.f32 %f0, [%a];\n\tmov.u32 %r0, %ctaid.x;\n\tmul.wide.u32 %l0, %r0, 128;\n\t"
       "add.s64 %l0, %l0, %a;\n\tst.global.f32 [%l0], %f0;",
       32, 300},
      {{"blocks", 300},
       {"threads", 32},
       {"counted", 300},
       {"accesses", 600},
       {"requested", 600 * 128},
       {"distinct", 300 * 128}});
}

TEST(EmulatorCounters, LongLoopsKeepLittle) {
  const std::string line = "ld.global.f32 %f0, [%a];";
  const TemporaryDirectory folder;
  const Ending ending = onDevice({{"COUNT", folder.path + "/count"}, {"SM", "90"}}, [&] {
    TestDevice device;
    device.loadText(textOf(loop("500000", line)));
    const Buffer<char> array(device, size_t(4096));
    (void)device.kernel("k");
    rusage before = {}, after = {};
    getrusage(RUSAGE_SELF, &before);
    device.launch("k", {1, 1}, {32, 1}, device.stream, array.pointer);
    device.synchronize();
    getrusage(RUSAGE_SELF, &after);
    std::printf("%ld KiB more", after.ru_maxrss - before.ru_maxrss);
    return after.ru_maxrss - before.ru_maxrss > 32 << 10; // all addresses would be 128 MB
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(EmulatorCounters, LineOfALaunch) {
  const std::string line = count(
      {"ld.global.f32 %f0, [%a];\n\tmul.wide.u32 %l0, %t, 256;\n\tadd.s64 %l0, %l0, %p;\n\t"
       "ld.global.f32 %f1, [%l0];\n\tld.global.f32 %f1, [%a+64];\n\t"
       "shl.b32 %r0, %t, 3;\n\tadd.s32 %r0, %r0, %s;\n\tst.shared.f32\t[%r0], %f1; // \"a\\b\"",
       32, 2});
  EXPECT_EQ(
      line,
      R"(launch {"kernel":"k","number":1,"device":0,"blocks":2,"threads":32,"counted":2,)"
      R"("requested":768,"accesses":6,"lines":70,"least_lines":6,"bytes_by_width":{"4":768},)"
      R"("distinct":1184,"shared_requested":256,"shared_accesses":2,"wavefronts":4,)"
      R"("least_wavefronts":2,"local":0,"sites":[)"
      R"({"line":22,"text":"ld.global.f32 %f1, [%l0];","space":"global","accesses":2,"requested":256,)"
      R"("lines":64,"least_lines":2},)"
      R"({"line":23,"text":"ld.global.f32 %f1, [%a+64];","space":"global","accesses":2,"requested":256,)"
      R"("lines":4,"least_lines":2},)"
      R"({"line":26,"text":"st.shared.f32 [%r0], %f1; // \"a\\b\"","space":"shared","accesses":2,"requested":256,)"
      R"("wavefronts":4,"least_wavefronts":2}]})");
}

TEST(EmulatorCounters, FileThatCannotBeWritten) {
  const Ending ending = onDevice({{"COUNT", "/nonexistent/count"}, {"SM", "90"}}, [] {
    TestDevice device;
    device.loadText(textOf(""));
    device.launch("k", {1, 1}, {1, 1}, device.stream, uint64_t(0));
    device.synchronize();
    return 0;
  });
  EXPECT_EQ(ending.status, 97);
  EXPECT_NE(ending.printed.find("cannot write /nonexistent/count: No such file or directory"),
            std::string::npos)
      << ending.printed;
}

TEST(EmulatorCounters, WorstSitesComeFirst) {
  // Store n has a stride of n lines, or of n words: of each kind there are more than are shown.
  std::string code;
  for (int i = 1; i <= 10; ++i)
    code += "mul.lo.u32 %r0, %t, " + std::to_string(12 * i) +
            ";\n\tcvt.u64.u32 %l0, %r0;\n\t"
            "add.s64 %l0, %l0, %p;\n\tst.global.f32 [%l0], %f" +
            std::to_string(i % 8) + ";\n\t";
  const std::string global = count({code});
  auto sitesOf = [](const std::string &line) {
    std::vector<std::pair<std::string, long long>> sites;
    std::string rest = line.substr(line.find("\"sites\""));
    for (size_t at; (at = rest.find("{\"line\"")) != rest.npos;) {
      rest = rest.substr(at + 1);
      const bool isShared = rest.find("\"shared\"") < rest.find("\"global\"");
      const std::string name = isShared ? "wavefronts" : "lines";
      sites.push_back({name, fieldOf(rest, name) - fieldOf(rest, "least_" + name)});
    }
    return sites;
  };
  using Sites = std::vector<std::pair<std::string, long long>>;
  EXPECT_EQ(sitesOf(global), (Sites{{"lines", 29},
                                    {"lines", 26},
                                    {"lines", 23},
                                    {"lines", 20},
                                    {"lines", 17},
                                    {"lines", 14},
                                    {"lines", 11},
                                    {"lines", 8}}));
  code += "shl.b32 %r0, %t, 3;\n\tadd.s32 %r0, %r0, %s;\n\tst.shared.f32 [%r0], %f0;";
  EXPECT_EQ(sitesOf(count({code})).size(), 8u);
  EXPECT_EQ(sitesOf(count({code})).back(), (std::pair<std::string, long long>{"wavefronts", 1}));
}

TEST(EmulatorCounters, LaunchesHaveNumbers) {
  const TemporaryDirectory folder;
  const std::string file = folder.path + "/count";
  for (int process = 0; process < 2; ++process) { // the file is continued
    const Ending ending = onDevice({{"COUNT", file}, {"SM", "90"}}, [&]() -> int {
      TestDevice device(process);
      device.loadText(textOf("ld.global.f32 %f0, [%a];"));
      const Buffer<char> array(device, size_t(4096));
      for (unsigned blocks : {1u, 2u, 3u})
        device.launch("k", {blocks, 1}, {32, 1}, device.stream, array.pointer);
      device.synchronize();
      std::exit(0);
    });
    EXPECT_EQ(ending.status, 0) << ending.printed;
  }
  const std::vector<std::string> lines = launchesIn(file);
  ASSERT_EQ(lines.size(), 6u);
  for (long long i = 0; i < 6; ++i) {
    EXPECT_EQ(fieldOf(lines[size_t(i)], "number"), i % 3 + 1);
    EXPECT_EQ(fieldOf(lines[size_t(i)], "blocks"), i % 3 + 1);
    EXPECT_EQ(fieldOf(lines[size_t(i)], "device"), i / 3);
  }
}

} // namespace
