// One rank of a contender of hosts.py, an all-reduce over hosts.
//
//   dpc-bench-hosts WAY FOLDER RANK RANKS ADDRESS PLACE
//   mpirun .. dpc-bench-hosts WAY FOLDER
//
// The rank reads lines "RUN bytes times" from the pipe FOLDER/WAY.RANK, in whose name "-" stands
// for "/". Rank 0 answers each with a line `DONE {"s": seconds}` on its standard output. Another
// line ends the rank.
#include "bench/hosts/Contender.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace dpc::bench {

void giveUp(const Start &start, const std::string &reason) {
  std::fprintf(stderr, "error: %s, rank %u: %s\n", start.way.c_str(), start.rank, reason.c_str());
  std::exit(1);
}

namespace {

std::unique_ptr<Contender> make(const Start &start) {
  if (start.way == "socket")
    return makeSocket(start);
  if (start.way == "MPI_Allreduce")
    return makeMpi(start);
  if (start.way.rfind("gloo-", 0) == 0)
    return makeGloo(start);
  return makeDpc(start);
}

/// Ends this rank if the contender does not sum rank + 1 of all ranks.
void test(const Start &start, Contender &contender, uint64_t bytes) {
  const uint32_t n = contender.summed();
  float *memory = contender.memory();
  const uint64_t count = bytes / sizeof(float);
  const uint32_t first = n ? start.rank / n * n : 0; // of the rank's group
  std::fill(memory, memory + count, float(start.rank + 1));
  contender.run(bytes);
  const float wanted = float(n * first + n * (n + 1) / 2);
  if (n && std::any_of(memory, memory + count, [&](float value) { return value != wanted; }))
    giveUp(start, "wrong sums of " + std::to_string(bytes) + " bytes");
  std::memset(memory, 0, bytes);
}

uint32_t number(const char *text) { return text ? static_cast<uint32_t>(std::atoi(text)) : 0; }

int serve(const Start &start) {
  if (start.rank >= start.ranks)
    giveUp(start, "no launcher says which rank this is");
  const std::unique_ptr<Contender> contender = make(start);
  if (!contender)
    giveUp(start, "unknown, or not built");
  std::string pipe = start.way + "." + std::to_string(start.rank);
  std::replace(pipe.begin(), pipe.end(), '/', '-');
  std::FILE *commands = std::fopen((start.folder + "/" + pipe).c_str(), "r");
  if (!commands)
    giveUp(start, "cannot open the pipe " + pipe);
  char line[256];
  unsigned long long bytes, times, tested = 0;
  while (std::fgets(line, sizeof line, commands)) {
    if (std::sscanf(line, "RUN %llu %llu", &bytes, &times) != 2)
      break;
    if (bytes < sizeof(float) || bytes > kLargest)
      giveUp(start, "cannot sum " + std::to_string(bytes) + " bytes");
    if (bytes != tested)
      test(start, *contender, bytes);
    tested = bytes;
    contender->run(bytes); // the ranks begin together
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned long long i = 0; i < times; ++i)
      contender->run(bytes);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (start.rank == 0)
      std::printf("DONE {\"s\": %.9f}\n", seconds.count());
    std::fflush(stdout);
  }
  std::fclose(commands);
  return 0;
}

} // namespace

} // namespace dpc::bench

int main(int argc, char **argv) {
  using namespace dpc::bench;
  if (argc != 3 && argc != 7) {
    std::fprintf(stderr, "usage: dpc-bench-hosts WAY FOLDER [RANK RANKS ADDRESS PLACE]\n");
    return 2;
  }
  Start start = {};
  start.way = argv[1], start.folder = argv[2];
  if (argc == 7) {
    start.rank = number(argv[3]), start.ranks = number(argv[4]);
    start.address = argv[5], start.place = argv[6];
  } else {
    start.rank = number(std::getenv(std::getenv("PMI_RANK") ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK"));
    start.ranks =
        number(std::getenv(std::getenv("PMI_SIZE") ? "PMI_SIZE" : "OMPI_COMM_WORLD_SIZE"));
  }
  try {
    return serve(start);
  } catch (const std::exception &error) { // of Gloo
    giveUp(start, error.what());
  }
}
