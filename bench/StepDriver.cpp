// Runs training steps of a compiled program, with one process per rank on this
// host, and answers the scoreboard's line protocol:
//
//   READY {json}   once the first step is complete
//   RUN n       -> DONE {"s": seconds of n steps, "loss": of the last}
//   QUIT        -> BYE {"rss_mb": [..], "pss_mb": [..]}
//
// An argument NAME=N fills the input NAME with integers from 0 to N - 1. State of
// which the program has no initial values (--params=none) gets random ones. For CUDA
// devices, the variables DPC_BENCH_TUNE and DPC_BENCH_PROFILE name the files of --tune
// and --profile, and DPC_BENCH_GRAPH=off is --cuda-graph=off. DPC_BENCH_LINK
// is an emulated link between the ranks: bytes a second and seconds, such as 1e9,20e-6.
#include "dpc/dpc.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <random>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr uint32_t kQuit = 0;

double now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// The value of the line `name: N kB` in a file of /proc/self, in MiB.
double procMegabytes(const char *file, const char *name) {
  double megabytes = 0;
  if (std::FILE *stream = std::fopen(file, "re")) {
    char line[256];
    long kilobytes;
    const size_t length = std::strlen(name);
    while (std::fgets(line, sizeof line, stream))
      if (std::strncmp(line, name, length) == 0 &&
          std::sscanf(line + length, ": %ld", &kilobytes) == 1)
        megabytes = double(kilobytes) / 1024;
    std::fclose(stream);
  }
  return megabytes;
}

/// One global batch per input, the same on all ranks. Inputs with a given count
/// hold random integers below it; other inputs hold normal floats or zeros.
class SyntheticBatch {
public:
  explicit SyntheticBatch(std::map<std::string, int64_t> counts) : counts(std::move(counts)) {}

  dpc_status_t bind(dpc_session_t *session) {
    const dpc_program_t &program = *dpc_session_program(session);
    storage.resize(program.input_count);
    for (uint32_t i = 0; i < program.input_count; ++i) {
      const dpc_input_t &input = program.inputs[i];
      dpc_array_t array = {"", input.dtype, 0, {}, nullptr};
      // An array that is bound has the samples in its first dimension.
      if (input.batch_dim >= 0)
        array.shape[array.dim_count++] = input.shape[input.batch_dim];
      for (uint32_t d = 0; d < input.dim_count; ++d)
        if (int64_t(d) != input.batch_dim)
          array.shape[array.dim_count++] = input.shape[d];
      fill(storage[i], input, dpc_array_elements(&array));
      array.data = storage[i].data();
      if (dpc_status_t status = dpc_session_bind_input(session, input.name, &array))
        return status;
    }
    return DPC_OK;
  }

private:
  void fill(std::vector<char> &to, const dpc_input_t &input, uint64_t count) {
    auto given = counts.find(input.name);
    const bool counted = given != counts.end();
    const bool real = input.dtype <= DPC_BF16;
    std::uniform_int_distribution<int64_t> whole(0, counted ? given->second - 1 : 0);
    std::normal_distribution<double> normal;
    const uint64_t size = dpc_dtype_size(input.dtype);
    to.resize(count * size);
    for (uint64_t i = 0; i < count; ++i) {
      const double value = real && !counted ? normal(generator) : double(whole(generator));
      dpc_convert(input.dtype, to.data() + i * size, DPC_F64, &value, 1);
    }
  }

  std::map<std::string, int64_t> counts;
  std::mt19937 generator{100};
  std::vector<std::vector<char>> storage;
};

/// Gives small random values to state without initial values. Equal numbers would let a device draw
/// less power than a training does, and run faster.
dpc_status_t fillState(dpc_session_t *session) {
  const dpc_program_t &program = *dpc_session_program(session);
  std::mt19937 generator{200};
  std::normal_distribution<float> normal(0, 0.02F);
  std::vector<float> values;
  for (uint32_t i = 0; i < program.state_count; ++i) {
    const dpc_state_t &state = program.states[i];
    if (state.init_kind != DPC_INIT_NONE)
      continue;
    dpc_array_t array = {};
    array.dtype = DPC_F32;
    array.dim_count = state.dim_count;
    std::copy(state.shape, state.shape + state.dim_count, array.shape);
    values.resize(dpc_array_elements(&array));
    // A pattern is enough, and takes less time than a billion random numbers.
    const size_t fresh = std::min<size_t>(values.size(), 1 << 16);
    std::generate_n(values.begin(), fresh, [&] { return normal(generator); });
    for (size_t at = fresh; at < values.size(); ++at)
      values[at] = values[at - fresh];
    array.data = values.data();
    if (dpc_status_t status = dpc_session_write_state(session, state.name, &array))
      return status;
  }
  return DPC_OK;
}

/// One rank of the run. Rank 0 writes commands, the others read them.
struct Rank {
  const dpc_program_t *program;
  uint32_t rank;
  std::string rendezvous;
  std::vector<int> commands; ///< pipes: rank 0 writes to all, others read from one
  std::vector<int> answers;  ///< pipes: rank 0 reads from all, others write to one
  SyntheticBatch batch;
  dpc_session_t *session = nullptr;

  dpc_status_t open() {
    cpu_set_t set, one;
    // Programs for a device are not pinned: the driver of the device starts threads.
    if (!program->device && sched_getaffinity(0, sizeof set, &set) == 0) {
      // One core per rank, like the other contenders.
      int skip = static_cast<int>(rank % uint32_t(CPU_COUNT(&set))), cpu = 0;
      while (!CPU_ISSET(cpu, &set) || skip-- > 0)
        ++cpu;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
    }
    dpc_session_options_t options;
    if (dpc_status_t status = dpc_session_options_default(&options))
      return status;
    options.rank = rank;
    options.world_size = program->world_size;
    options.rendezvous = rendezvous.c_str();
    options.token = nullptr;
    options.tune = std::getenv("DPC_BENCH_TUNE");
    options.profile = std::getenv("DPC_BENCH_PROFILE");
    const char *graph = std::getenv("DPC_BENCH_GRAPH");
    options.no_graphs = graph && std::strcmp(graph, "off") == 0;
    if (const char *link = std::getenv("DPC_BENCH_LINK")) {
      options.transport = "local";
      if (std::sscanf(link, "%lf,%lf", &options.bandwidth, &options.latency) != 2) {
        std::fprintf(stderr, "error: DPC_BENCH_LINK is %s, not bytes a second,seconds\n", link);
        return DPC_USAGE;
      }
    }
    if (dpc_status_t status = dpc_session_create(program, &options, &session))
      return status;
    if (dpc_status_t status = fillState(session))
      return status;
    return batch.bind(session);
  }

  dpc_status_t steps(uint32_t count, double *outSeconds, double *outLoss) {
    dpc_comm_t *comm = dpc_session_comm(session);
    if (dpc_status_t status = dpc_comm_barrier(comm))
      return status;
    const double begin = now(CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < count; ++i)
      // Parameters of random models may become infinite, which changes no time.
      if (dpc_status_t status = dpc_session_step(session); status && status != DPC_NUMERIC)
        return status;
    if (dpc_status_t status = dpc_comm_barrier(comm))
      return status;
    *outSeconds = now(CLOCK_MONOTONIC) - begin;
    return dpc_session_metric(session, "loss", outLoss);
  }
};

/// The resident memory of one rank in MiB: the peak, and now in proportion to its sharing.
struct Memory {
  double peakResident;
  double proportional;
};

Memory memoryOfThisRank() {
  return {procMegabytes("/proc/self/status", "VmHWM"),
          procMegabytes("/proc/self/smaps_rollup", "Pss")};
}

dpc_status_t follow(Rank &rank) {
  if (dpc_status_t status = rank.open())
    return status;
  uint32_t count;
  double seconds, loss;
  while (read(rank.commands[0], &count, sizeof count) == sizeof count) {
    if (count == kQuit) {
      const Memory memory = memoryOfThisRank();
      return write(rank.answers[0], &memory, sizeof memory) == sizeof memory ? DPC_OK : DPC_IO;
    }
    if (dpc_status_t status = rank.steps(count, &seconds, &loss))
      return status;
  }
  return DPC_OK; // rank 0 is gone
}

/// JSON has no number that is not finite.
std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::isfinite(value) ? text : "null";
}

bool tell(const Rank &rank, uint32_t count) {
  for (int fd : rank.commands)
    if (write(fd, &count, sizeof count) != sizeof count)
      return false;
  return true;
}

dpc_status_t lead(Rank &rank) {
  const double started = now(CLOCK_REALTIME);
  const char *spawned = std::getenv("PEER_T0");
  double seconds, loss;
  if (dpc_status_t status = rank.open())
    return status;
  if (!tell(rank, 1))
    return DPC_IO;
  if (dpc_status_t status = rank.steps(1, &seconds, &loss))
    return status;
  const double ready = now(CLOCK_REALTIME);
  std::printf("READY {\"ttfs_s\": %.3f, \"program_to_first_step_s\": %.3f, "
              "\"loss0\": %s, \"note\": \"plan %.1f MB a rank\"}\n",
              ready - (spawned ? std::atof(spawned) : started), ready - started,
              numberText(loss).c_str(), double(rank.program->ranks[0].peak_bytes) / (1 << 20));
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    unsigned count = 0;
    if (line.empty())
      continue;
    if (std::sscanf(line.c_str(), "RUN %u", &count) != 1 || count == 0)
      break;
    if (!tell(rank, count))
      return DPC_IO;
    if (dpc_status_t status = rank.steps(count, &seconds, &loss))
      return status;
    std::printf("DONE {\"s\": %.9f, \"loss\": %s}\n", seconds, numberText(loss).c_str());
    std::fflush(stdout);
  }
  if (!tell(rank, kQuit))
    return DPC_IO;
  std::vector<Memory> all = {memoryOfThisRank()};
  for (int fd : rank.answers) {
    Memory memory = {};
    if (read(fd, &memory, sizeof memory) != sizeof memory)
      return DPC_IO;
    all.push_back(memory);
  }
  std::string rss, pss;
  for (const Memory &memory : all) {
    rss += (rss.empty() ? "" : ", ") + std::to_string(memory.peakResident);
    pss += (pss.empty() ? "" : ", ") + std::to_string(memory.proportional);
  }
  std::printf("BYE {\"rss_mb\": [%s], \"pss_mb\": [%s]}\n", rss.c_str(), pss.c_str());
  std::fflush(stdout);
  return DPC_OK;
}

/// Removes the rendezvous directory when the run ends.
struct Directory {
  char path[32] = "/tmp/dpc-bench-XXXXXX";
  bool made = mkdtemp(path) != nullptr;
  pid_t owner = getpid();
  ~Directory() {
    if (made && getpid() == owner)
      rmdir(path);
  }
};

int run(const dpc_program_t *program, const std::map<std::string, int64_t> &counts) {
  Directory directory;
  if (!directory.made) {
    std::fprintf(stderr, "error: cannot make %s: %s\n", directory.path, std::strerror(errno));
    return DPC_IO;
  }
  Rank self{program, 0, std::string("file://") + directory.path, {}, {}, SyntheticBatch(counts)};
  for (uint32_t r = 1; r < program->world_size; ++r) {
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0) {
      std::fprintf(stderr, "error: pipe: %s\n", std::strerror(errno));
      return DPC_IO;
    }
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      self.rank = r;
      for (int fd : self.commands)
        close(fd);
      for (int fd : self.answers)
        close(fd);
      close(down[1]);
      close(up[0]);
      self.commands = {down[0]};
      self.answers = {up[1]};
      break;
    }
    close(down[0]);
    close(up[1]);
    self.commands.push_back(down[1]);
    self.answers.push_back(up[0]);
  }
  const dpc_status_t status = self.rank == 0 ? lead(self) : follow(self);
  if (status != DPC_OK)
    std::fprintf(stderr, "error: rank %u: %s\n", self.rank, dpc_last_error());
  dpc_session_release(self.session);
  if (self.rank == 0)
    while (wait(nullptr) > 0)
      continue;
  return status;
}

} // namespace

int main(int argc, char **argv) {
  std::map<std::string, int64_t> counts;
  for (int i = 2; i < argc; ++i) {
    const char *argument = argv[i], *equals = std::strchr(argument, '=');
    const long count = equals ? std::atol(equals + 1) : 0;
    if (count < 1)
      argc = 0;
    else
      counts[std::string(argument, equals)] = count;
  }
  if (argc < 2) {
    std::fprintf(stderr, "usage: dpc-bench-steps PROGRAM.so [INPUT=COUNT..]; "
                         "see bench/README.md\n");
    return DPC_USAGE;
  }
  // dlopen would search the system's directories for a name without a slash.
  std::string path = argv[1];
  if (path.find('/') == std::string::npos)
    path = "./" + path;
  void *library = dlopen(path.c_str(), RTLD_NOW);
  const auto *program =
      static_cast<const dpc_program_t *>(library ? dlsym(library, "dpc_program") : nullptr);
  if (!program) {
    std::fprintf(stderr, "error: %s\n", dlerror());
    return DPC_INVALID;
  }
  return run(program, counts);
}
