// The main function of a compiled pipeline whose pieces sleep, for pipelines.py.
//
// DPC_BENCH_SLEEP=NAME=NS,NAME=NS,..: the function of a piece, e.g. F0, sleeps this long instead of
// computing.
// DPC_BENCH_RUNS=FILE: each rank writes `NAME MICROBATCH BEGIN END` to FILE.RANK for each run of a
// piece, in ns of a clock that all ranks share.
#include "dpc/dpc.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" const dpc_program_t dpc_program;

using Clock = std::chrono::steady_clock;

namespace {

struct Piece {
  std::string name;
  std::chrono::nanoseconds time;
};

struct Run {
  size_t piece;
  unsigned micro;
  Clock::time_point begin, end;
};

std::vector<Piece> pieces;
std::vector<Run> runs;

/// A function of a program gets no pointer of its own, so each piece has a function here.
template <size_t piece> int32_t sleepPiece(dpc_call_t *call) {
  const Clock::time_point begin = Clock::now();
  std::this_thread::sleep_until(begin + pieces[piece].time);
  runs.push_back({piece, call->micro, begin, Clock::now()});
  return 0;
}

template <size_t... numbers>
std::array<dpc_fn_t, sizeof...(numbers)> makeSleepers(std::index_sequence<numbers...>) {
  return {sleepPiece<numbers>...};
}

/// Replaces the functions of the pieces that `list` names.
std::vector<dpc_function_t> replaceFunctions(const char *list) {
  static const auto sleepers = makeSleepers(std::make_index_sequence<64>());
  std::vector<dpc_function_t> functions(dpc_program.functions,
                                        dpc_program.functions + dpc_program.function_count);
  std::istringstream text(list);
  for (std::string entry; std::getline(text, entry, ',');) {
    const size_t equals = entry.find('=');
    pieces.push_back(
        {entry.substr(0, equals), std::chrono::nanoseconds(std::stoll(entry.substr(equals + 1)))});
    const std::string part = ".step." + pieces.back().name + ".";
    int found = 0;
    for (dpc_function_t &function : functions)
      if (std::string(function.name).find(part) != std::string::npos) {
        function.fn = sleepers.at(pieces.size() - 1);
        ++found;
      }
    if (found != 1) {
      std::fprintf(stderr, "%d functions have the name %s\n", found, part.c_str());
      std::exit(1);
    }
  }
  return functions;
}

} // namespace

int main(int argc, char **argv) {
  const char *list = std::getenv("DPC_BENCH_SLEEP"), *file = std::getenv("DPC_BENCH_RUNS");
  const char *rank = std::getenv("RANK");
  dpc_program_t program = dpc_program;
  std::vector<dpc_function_t> functions;
  if (list) {
    functions = replaceFunctions(list);
    program.functions = functions.data();
  }
  const int code = dpc_main(argc, argv, &program);
  if (file && rank) {
    std::ofstream out(std::string(file) + "." + rank);
    for (const Run &run : runs)
      out << pieces[run.piece].name << ' ' << run.micro << ' '
          << run.begin.time_since_epoch().count() << ' ' << run.end.time_since_epoch().count()
          << '\n';
  }
  return code;
}
