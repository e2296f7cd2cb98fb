// Collects the tables, the groups and the places of the ranks of a program.

#include "passes/Play/PlayTables.h"

#include "dialects/Dist/IR/Collectives.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;

PlayTables::PlayTables(MeshPrices meshPrices) : prices(std::move(meshPrices)) {
  const Machine &machine = prices.machine();
  problem.topology = machine.topology;
  problem.transport = machine.transport;
  problem.hasOneStream = machine.transport == Transport::nccl;
}

size_t PlayTables::familyOf(ArrayRef<StringRef> axes, ArrayRef<int64_t> coordinates) {
  std::string name = llvm::join(axes, "+"); // as in record/Mesh.cpp
  if (!coordinates.empty())
    name +=
        "{" +
        llvm::join(llvm::map_range(coordinates, [](int64_t i) { return std::to_string(i); }), ",") +
        "}";
  auto known = llvm::find(families, name);
  if (known != families.end())
    return known - families.begin();
  families.push_back(name);
  problem.families.push_back({prices.groupsOver(axes, coordinates)});
  return families.size() - 1;
}

size_t PlayTables::addStart(PlayTable &table, const PlayOperation &operation, int64_t number) {
  PlayAction action;
  action.kind = PlayAction::Kind::start;
  action.operation = operation;
  action.number = number;
  table.actions.push_back(action);
  return table.actions.size() - 1;
}

void PlayTables::addWait(PlayTable &table, size_t started) {
  PlayAction action;
  action.kind = PlayAction::Kind::wait;
  action.started = started;
  table.actions.push_back(action);
}

void PlayTables::addCompute(PlayTable &table, double seconds, int64_t number) {
  PlayAction action;
  action.seconds = seconds;
  action.number = number;
  table.actions.push_back(action);
}

void PlayTables::placeRanks(ArrayRef<dist::RankProgram> programs) {
  const dist::MeshShape mesh = dist::getMeshShape(programs.front().module);
  for (int64_t rank = 0; rank < mesh.worldSize(); ++rank)
    for (auto [number, program] : llvm::enumerate(programs))
      if (program.runsOn(mesh, mesh.coordinates(rank)))
        problem.tableOf.push_back(number);
}
