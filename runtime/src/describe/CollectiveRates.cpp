// Starts the ranks of this host that time operations, and fits rates to their times.
#include "runtime/src/describe/CollectiveRates.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dpc {

namespace {

/// What a rank tells the process that started it.
struct RankAnswer {
  dpc_status_t status;
  char text[512];
  RankTimes times;
};
static_assert(sizeof(RankAnswer) <= PIPE_BUF, "answers of several ranks would mix");

/// Runs rank `self` in a process of its own, and ends it.
[[noreturn]] void runRank(const DescribeOptions &options, uint32_t self,
                          const std::string &rendezvous, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(DPC_PEER);
  RankAnswer answer = {};
  {
    MeasuringRank rank(options, self, rendezvous);
    answer.status = rank.measure(&answer.times);
    if (answer.status)
      copyText(answer.text, dpc_last_error());
  }
  const bool isWritten = ::write(output, &answer, sizeof answer) == ssize_t(sizeof answer);
  ::_exit(isWritten ? answer.status : DPC_IO);
}

/// The share of its larger buffer that a member of a group of `size` sends: twice in an all-reduce.
double sharesOf(int what, uint32_t size) {
  const double others = double(size - 1) / double(size);
  return what == kTimedMessage ? 1 : what == kTimedAllReduce ? 2 * others : others;
}

/// The bandwidth of one member. One number stands for all kinds: the geometric mean errs by the
/// same factor in both directions.
double bandwidthOf(const WayTimes &times, uint64_t largeBytes, uint32_t size) {
  double logarithms = 0;
  for (int what = 0; what < kTimedMessage; ++what) {
    const double seconds = std::max(times.large[what] - times.small[what], 1e-9);
    logarithms += std::log(sharesOf(what, size) * double(largeBytes - kSmallBytes) / seconds);
  }
  return std::exp(logarithms / kTimedMessage);
}

double startOf(const WayTimes &times, int what, double bytesPerSecond, uint32_t size) {
  const double moving = sharesOf(what, size) * double(kSmallBytes) / bytesPerSecond;
  // A small buffer stays in caches, where it moves faster than at the bandwidth of large ones.
  return std::max(times.small[what] / 2, times.small[what] - moving);
}

CollectiveRates fit(const RankTimes &times, const DescribeOptions &options) {
  CollectiveRates rates;
  rates.slowdown = times.slowdown;
  const bool hasInside = options.ranks > 1;
  if (hasInside) {
    rates.inside.bytesPerSecond = bandwidthOf(times.inside, times.largeBytes, options.ranks);
    for (int what = 0; what < kTimedOperations; ++what)
      rates.startSeconds[what] =
          startOf(times.inside, what, rates.inside.bytesPerSecond, options.ranks);
  }
  if (options.hosts == 1)
    return rates;
  const double alone = bandwidthOf(times.alone, times.largeBytes, options.hosts),
               together = bandwidthOf(times.together, times.largeBytes, options.hosts);
  rates.between.bytesPerSecond = std::max(alone, together);
  // A difference that noise explains is no limit.
  if (hasInside && together < 0.95 * alone)
    rates.between.unitBytesPerSecond = together * options.ranks;
  double sum = 0;
  for (int what = 0; what < kTimedOperations; ++what) {
    const double start = startOf(times.alone, what, rates.between.bytesPerSecond, options.hosts);
    if (hasInside)
      sum += std::max(0., start - rates.startSeconds[what]);
    else
      rates.startSeconds[what] = start;
  }
  rates.between.startSeconds = sum / kTimedOperations;
  return rates;
}

/// The folder of temporary files, for a folder in which ranks meet.
std::string temporaryFolder() {
  const char *given = std::getenv("TMPDIR");
  // The path of a Unix socket in it has at most 107 characters.
  constexpr size_t kMostLength = 60;
  return given && given[0] == '/' && std::strlen(given) <= kMostLength ? given : "/tmp";
}

/// Reads the answers of all ranks. Returns the failure of a rank, rather that of a rank that is the
/// cause than that of one that only noticed it.
dpc_status_t readAnswers(int input, uint32_t ranks, RankTimes *outFirst) {
  RankAnswer answer = {}, failure = {};
  uint32_t answers = 0;
  for (ssize_t got; (got = ::read(input, &answer, sizeof answer)) != 0;) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got != ssize_t(sizeof answer))
      break;
    ++answers;
    if (answer.times.largeBytes)
      *outFirst = answer.times;
    if (answer.status && (!failure.status || failure.status == DPC_PEER))
      failure = answer;
  }
  if (failure.status)
    return fail(failure.status, "%s", failure.text);
  return answers == ranks
             ? dpc_status_t(DPC_OK)
             : fail(DPC_PEER, "%s of %u died", countOf(ranks - answers, "rank").c_str(), ranks);
}

} // namespace

dpc_status_t measureCollectives(const DescribeOptions &options, CollectiveRates *out) {
  std::string folder = temporaryFolder() + "/dpc-describe-XXXXXX", rendezvous = options.rendezvous;
  int ends[2];
  const bool isAlone = options.hosts == 1;
  if (isAlone && !::mkdtemp(folder.data()))
    return fail(DPC_IO, "%s: %s", folder.c_str(), std::strerror(errno));
  if (isAlone)
    rendezvous = "file://" + folder;
  if (::pipe(ends) != 0) {
    const int error = errno;
    if (isAlone)
      ::rmdir(folder.c_str());
    return fail(DPC_IO, "a pipe: %s", std::strerror(error));
  }
  const pid_t self = ::getpid();
  std::vector<pid_t> processes;
  for (uint32_t rank = 0; rank < options.ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0)
      runRank(options, options.host * options.ranks + rank, rendezvous, ends[1], self);
    if (child < 0)
      break; // the others wait for this rank until their timeout
    processes.push_back(child);
  }
  ::close(ends[1]);
  if (processes.size() < options.ranks)
    for (pid_t process : processes)
      ::kill(process, SIGKILL);
  RankTimes times;
  const dpc_status_t status = readAnswers(ends[0], options.ranks, &times);
  ::close(ends[0]);
  for (pid_t process : processes)
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR)
      continue;
  if (isAlone)
    ::rmdir(folder.c_str());
  if (status == DPC_OK)
    *out = fit(times, options);
  return status;
}

} // namespace dpc
