// Runs a function as N ranks that an mpirun starts, like forkRanks does with forked ones.
#ifndef DPC_TEST_RUNTIME_MPIRANKS_H
#define DPC_TEST_RUNTIME_MPIRANKS_H

#include "test/runtime/ForkRanks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fcntl.h>

namespace dpc::test {

/// An mpirun of this machine, and the name of its transport in tests.
struct Mpirun {
  const char *name, *program, *flags;
  const char *library = nullptr; ///< another library than the one of this mpirun
};
constexpr Mpirun kMpiruns[] = {
    {"openmpi", "/usr/bin/mpirun.openmpi", "--oversubscribe --bind-to none --quiet"},
    {"mpich", "/usr/bin/mpirun.mpich", "-bind-to none"},
// The ABI of MPI 5 over each of them (programs/MpiAbi.c).
#ifdef ABI_OVER_OPENMPI
    {"abi_openmpi", "/usr/bin/mpirun.openmpi", "--oversubscribe --bind-to none --quiet",
     ABI_OVER_OPENMPI},
#endif
#ifdef ABI_OVER_MPICH
    {"abi_mpich", "/usr/bin/mpirun.mpich", "-bind-to none", ABI_OVER_MPICH},
#endif
};

/// The mpirun of a transport's name, if this machine has it; else null.
inline const Mpirun *findMpirun(const std::string &transport) {
  for (const Mpirun &each : kMpiruns)
    if (transport == each.name && ::access(each.program, X_OK) == 0)
      return &each;
  return nullptr;
}

/// What a rank of mpirun tells the test, in a file that both map.
struct MpiRank {
  std::atomic<int> pid, ended;
  int exitCode;
  double seconds;
  RankReport report;
};

inline MpiRank *mapMpiRanks(const std::string &path, uint32_t ranks, bool isNew) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  if (isNew && ::ftruncate(fd, static_cast<off_t>(ranks * sizeof(MpiRank))) != 0)
    std::perror("ftruncate");
  void *memory =
      ::mmap(nullptr, ranks * sizeof(MpiRank), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return static_cast<MpiRank *>(memory);
}

/// The number of a call of runRanks in this test. A rank of mpirun runs the test from its
/// start, and becomes a rank in the call that started it; earlier calls do nothing there.
inline int countCall() {
  static int calls = 0;
  static const testing::TestInfo *latest = nullptr;
  const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
  if (test != latest)
    calls = 0;
  latest = test;
  return calls++;
}

/// Whether a rank has reported, or is no more.
inline bool isOver(const MpiRank &rank) {
  return rank.ended != 0 || (rank.pid != 0 && ::kill(rank.pid, 0) != 0);
}

/// The part of a rank of mpirun: `body`, and a report of it. An mpirun kills all ranks as soon as
/// one of its processes fails. So the rank is a child of the process that mpirun knows, and
/// that process ends when all ranks are over.
[[noreturn]] inline void becomeMpiRank(uint32_t ranks, const std::string &folder,
                                       const std::function<int(uint32_t, RankReport &)> &body) {
  const char *number = std::getenv("OMPI_COMM_WORLD_RANK");
  if (!number)
    number = std::getenv("PMI_RANK");
  const auto rank = static_cast<uint32_t>(std::atoi(number));
  MpiRank *all = mapMpiRanks(folder + "/ranks", ranks, false);
  MpiRank &own = all[rank];
  alarm(80);
  const pid_t child = ::fork();
  if (child != 0) {
    own.pid = child;
    ::waitpid(child, nullptr, 0);
    while (!std::all_of(all, all + ranks, isOver))
      ::usleep(5000);
    _exit(0);
  }
  alarm(60);
  const auto begin = std::chrono::steady_clock::now();
  own.exitCode = body(rank, own.report);
  own.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  own.ended = 1;
  std::fflush(nullptr);
  _exit(own.exitCode);
}

/// Runs body(rank, report) in processes that are forked, or for the name of an mpirun, that
/// this mpirun starts.
inline std::vector<RankResult>
runRanks(const std::string &transport, uint32_t ranks,
         const std::function<int(uint32_t, RankReport &)> &body,
         const std::function<void(const std::vector<pid_t> &)> &meanwhile = {}) {
  const int call = countCall();
  const char *wanted = std::getenv("DPC_TEST_MPI_CALL"), *shared = std::getenv("DPC_TEST_SHARED");
  if (wanted && call == std::atoi(wanted))
    becomeMpiRank(ranks, shared, body);
  if (wanted)
    return std::vector<RankResult>(ranks);
  const Mpirun *mpirun = findMpirun(transport);
  if (!mpirun)
    return forkRanks(ranks, body, meanwhile);
  const TemporaryDirectory folder;
  MpiRank *told = mapMpiRanks(folder.path + "/ranks", ranks, true);
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0)
    std::perror("readlink");
  const auto *test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string command =
      std::string("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 DPC_TEST_MPI_CALL=") +
      std::to_string(call) + " DPC_TEST_SHARED=" + folder.path + " timeout -k 1 90 " +
      mpirun->program + " -n " + std::to_string(ranks) + " " + mpirun->flags + " " + self +
      " --gtest_filter=" + test->test_suite_name() + "." + test->name() + " </dev/null >" +
      folder.path + "/log 2>&1 &";
  if (std::system(command.c_str()) != 0)
    std::perror("mpirun");
  const auto waitFor = [&](const std::function<bool(const MpiRank &)> &is, double seconds) {
    for (double waited = 0; waited < seconds; waited += 0.005) {
      uint32_t count = 0;
      for (uint32_t r = 0; r < ranks; ++r)
        count += is(told[r]);
      if (count == ranks)
        return true;
      ::usleep(5000);
    }
    return false;
  };
  const bool started = waitFor([](const MpiRank &rank) { return rank.pid != 0; }, 20);
  std::vector<pid_t> pids;
  for (uint32_t r = 0; r < ranks; ++r)
    pids.push_back(told[r].pid);
  if (meanwhile && started)
    meanwhile(pids);
  // A rank that was killed, or that stops, says nothing.
  waitFor(isOver, started ? 70 : 0);
  std::vector<RankResult> results(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    results[r].exitCode = told[r].ended ? told[r].exitCode : 128 + SIGKILL;
    results[r].message = told[r].report.message;
    results[r].seconds = told[r].seconds;
  }
  if (!started)
    ADD_FAILURE() << mpirun->program
                  << " starts no ranks: " << std::system(("cat " + folder.path + "/log").c_str());
  ::munmap(told, ranks * sizeof(MpiRank));
  return results;
}

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_MPIRANKS_H
