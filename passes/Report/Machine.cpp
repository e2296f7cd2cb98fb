// Shows a mesh and the levels of the machine on which its ranks lie.

#include "passes/Report/Machine.h"

#include "passes/Report/Html.h"
#include "planning/SizeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace dpc;

/// Drawings show this many units of a level, and of the ranks in a unit.
static constexpr int64_t kMostUnits = 16, kMostRanks = 32;
/// A page has no more ranks than this in its drawing.
static constexpr int64_t kMostDrawnRanks = 1024;

static std::string rateText(double bytesPerSecond) {
  return bytesPerSecond > 0 ? formatv("{0:f1} GB/s", bytesPerSecond / 1e9).str() : "";
}

/// The ranks of the group of rank 0 along one axis.
static SmallVector<int64_t> firstGroup(const dist::MeshShape &mesh, size_t axis) {
  SmallVector<int64_t> ranks;
  SmallVector<int64_t> coordinates(mesh.axes.size(), 0);
  for (int64_t i = 0; i < mesh.axes[axis].size; ++i) {
    coordinates[axis] = i;
    ranks.push_back(mesh.rankOf(coordinates));
  }
  return ranks;
}

/// "8 devices in host, 2 units in network": how the members of a group lie in the levels.
static std::string placesText(const Topology &topology, ArrayRef<int64_t> ranks) {
  const GroupPlaces places(topology, ranks);
  std::string text;
  for (auto [number, level] : enumerate(topology.levels))
    if (places.crosses(number))
      text += (text.empty() ? "" : ", ") + std::to_string(places.units[number]) +
              (number ? " units in " : " devices in ") + level.name;
  return text.empty() ? "alone" : text;
}

static void writeMesh(raw_ostream &os, const dist::MeshShape &mesh, const Topology &topology) {
  std::vector<std::vector<std::string>> rows;
  for (auto [number, axis] : enumerate(mesh.axes)) {
    if (axis.sequential) {
      rows.push_back({axis.name, std::to_string(axis.size), "one after the other", ""});
      continue;
    }
    const SmallVector<int64_t> ranks = firstGroup(mesh, number);
    std::string members;
    for (int64_t rank : ArrayRef(ranks).take_front(4))
      members += (members.empty() ? "" : ", ") + std::to_string(rank);
    if (ranks.size() > 4)
      members += ", .. " + std::to_string(ranks.back());
    rows.push_back({axis.name, std::to_string(axis.size), members, placesText(topology, ranks)});
  }
  if (!rows.empty())
    writeHtmlTable(os, "Mesh: the axes, the first one outermost",
                   {"axis", ">size", "first group of ranks", "where it lies"}, rows);
}

static void writeLevels(raw_ostream &os, const Topology &topology) {
  const Device &device = topology.device;
  std::string line = "Each device:";
  if (device.memoryBytes > 0)
    line += " " + bytesText(int64_t(device.memoryBytes)) + " of memory,";
  const double rate = device.rateOf(NumberType::f32);
  line += formatv(" {0:f1} GB/s of memory bandwidth, {1:f1} {2}FLOP/s in f32.",
                  device.memoryBytesPerSecond / 1e9, rate < 1e12 ? rate / 1e9 : rate / 1e12,
                  rate < 1e12 ? "G" : "T");
  os << "<p>" << escapeHtml(line) << "</p>\n";
  std::vector<std::vector<std::string>> rows;
  static constexpr StringLiteral shapes[] = {"switch", "ring", "torus"};
  for (auto [number, level] : enumerate(topology.levels))
    rows.push_back({level.name,
                    (level.size ? std::to_string(level.size) : std::string("any number of")) +
                        (number ? " units of " + topology.levels[number - 1].name : " devices"),
                    rateText(level.bytesPerSecond), rateText(level.unitBytesPerSecond),
                    timeText(level.startSeconds), timeText(level.stepSeconds),
                    shapes[size_t(level.shape)].str()});
  writeHtmlTable(os, "Levels of connections, from the inside out",
                 {"level", "connects", ">bandwidth of a device", ">of a unit's devices together",
                  ">start", ">step", "shape"},
                 rows);
}

/// Draws the units of the innermost level as boxes, with their ranks. Boxes of the level outside
/// lie around them. Subtracts the ranks that it draws from `left`.
static void drawUnits(raw_ostream &os, const Topology &topology, size_t level, int64_t first,
                      int64_t ranks, ArrayRef<size_t> tableOf, int64_t &left) {
  const LinkLevel &each = topology.levels[level];
  int64_t inside = 1; // devices in a unit inside this level
  for (size_t i = 0; i < level; ++i)
    inside *= topology.levels[i].size;
  const int64_t size = each.size ? each.size : (ranks - first + inside - 1) / inside;
  os << "<div class=\"unit\"><b>" << escapeHtml(each.name) << "</b><div class=\"units\">";
  const int64_t most = level ? kMostUnits : kMostRanks;
  for (int64_t i = 0; i < size && first + i * inside < ranks; ++i) {
    if (i == most || left <= 0) {
      os << "<i>and " << (std::min(size, (ranks - first + inside - 1) / inside) - i) << " more</i>";
      break;
    }
    if (level) {
      drawUnits(os, topology, level - 1, first + i * inside, ranks, tableOf, left);
    } else {
      --left;
      os << "<span class=\"rank t"
         << (size_t(first + i) < tableOf.size() ? tableOf[first + i] % 8 : 0) << "\">" << first + i
         << "</span>";
    }
  }
  os << "</div></div>";
}

void dpc::writeMachine(raw_ostream &os, const dist::MeshShape &mesh, const Topology &topology,
                       ArrayRef<size_t> tableOf) {
  os << "<h3>" << escapeHtml(topology.name) << "</h3>\n";
  writeMesh(os, mesh, topology);
  writeLevels(os, topology);
  os << "<figure><div class=\"map\">";
  int64_t left = kMostDrawnRanks;
  drawUnits(os, topology, topology.levels.size() - 1, 0, mesh.worldSize(), tableOf, left);
  const bool hasStages = any_of(tableOf, [&](size_t table) { return table != tableOf.front(); });
  os << "</div><figcaption>Ranks in the levels of the machine; rank r is device r."
     << (hasStages ? " Ranks of one stage have one colour." : "") << "</figcaption></figure>\n";
}
