// Writes what the accesses of a launch move, as a line of JSON.
#include "test/cuda_emulator/driver/LaunchReport.h"

#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Api.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace dpc::emulator;

static constexpr size_t kMostSites = 8, kMostText = 160;

/// A JSON string; a long text is cut.
static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text.substr(0, kMostText)) {
    if (c == '"' || c == '\\')
      result += '\\';
    result +=
        static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? ' ' : c;
  }
  return result + '"';
}

static std::string field(const char *name, uint64_t value) {
  return std::string(",\"") + name + "\":" + std::to_string(value);
}

/// The instructions whose accesses move the most above the least, at most kMostSites.
static std::vector<size_t> worstOf(const std::vector<SiteCounts> &sites) {
  std::vector<size_t> worst;
  for (size_t i = 0; i < sites.size(); ++i)
    if (sites[i].excess())
      worst.push_back(i);
  std::stable_sort(worst.begin(), worst.end(),
                   [&](size_t a, size_t b) { return sites[a].excess() > sites[b].excess(); });
  worst.resize(std::min(worst.size(), kMostSites));
  return worst;
}

static std::string describeSite(const Kernel &kernel, size_t instruction, const SiteCounts &site,
                                bool isShared) {
  const auto &[line, text] = kernel.instructions[instruction];
  return "{\"line\":" + std::to_string(line) + ",\"text\":" + quoted(text) +
         ",\"space\":" + (isShared ? "\"shared\"" : "\"global\"") +
         field("accesses", site.accesses) + field("requested", site.requested) +
         field(isShared ? "wavefronts" : "lines", site.transfers) +
         field(isShared ? "least_wavefronts" : "least_lines", site.least) + "}";
}

/// The worst sites, of each memory half of them if it has as many.
static std::string describeSites(const Kernel &kernel, const AccessCounts &counts) {
  std::vector<size_t> global = worstOf(counts.global), shared = worstOf(counts.shared);
  const size_t ofShared = std::min(shared.size(), kMostSites / 2);
  global.resize(std::min(global.size(), kMostSites - ofShared));
  shared.resize(std::min(shared.size(), kMostSites - global.size()));
  std::string list;
  for (size_t i : global)
    list += (list.empty() ? "" : ",") + describeSite(kernel, i, counts.global[i], false);
  for (size_t i : shared)
    list += (list.empty() ? "" : ",") + describeSite(kernel, i, counts.shared[i], true);
  return list;
}

static SiteCounts sumOf(const std::vector<SiteCounts> &sites) {
  SiteCounts sum;
  for (const SiteCounts &site : sites)
    sum.add(site);
  return sum;
}

static std::string describeLaunch(const Kernel &kernel, uint64_t number, uint64_t blocks,
                                  uint64_t threads, const AccessCounts &counts) {
  const SiteCounts global = sumOf(counts.global), shared = sumOf(counts.shared);
  std::string widths;
  for (size_t i = 0; i < counts.bytesByWidth.size(); ++i)
    if (counts.bytesByWidth[i])
      widths += (widths.empty() ? "\"" : ",\"") + std::to_string(1u << i) +
                "\":" + std::to_string(counts.bytesByWidth[i]);
  return "launch {\"kernel\":" + quoted(kernel.name) + field("number", number) +
         field("device", static_cast<uint64_t>(dpc::cuda::dpcEmulatorDevice())) +
         field("blocks", blocks) + field("threads", threads) + field("counted", counts.blocks) +
         field("requested", global.requested) + field("accesses", global.accesses) +
         field("lines", global.transfers) + field("least_lines", global.least) +
         ",\"bytes_by_width\":{" + widths + "}" + field("distinct", counts.sectors.bytes()) +
         field("shared_requested", shared.requested) + field("shared_accesses", shared.accesses) +
         field("wavefronts", shared.transfers) + field("least_wavefronts", shared.least) +
         field("local", counts.local) + ",\"sites\":[" + describeSites(kernel, counts) + "]}\n";
}

void dpc::emulator::reportLaunch(const Kernel &kernel, uint64_t number, uint64_t blocks,
                                 uint64_t threads, const AccessCounts &counts) {
  const std::string &path = Options::get().countFile;
  static const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  const std::string line = describeLaunch(kernel, number, blocks, threads, counts);
  if (file < 0 || write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    fail("cannot write %s: %s", path.c_str(), std::strerror(errno));
}
