// Runs the entries of a program in the interpreter: shards the arguments, runs
// one thread per rank, and joins the shards of the results.

#include "interpreter/Session.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/LayoutShards.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/NN/IR/Program.h"
#include "interpreter/Evaluator.h"
#include "interpreter/FlatState.h"
#include "interpreter/World.h"

#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <cmath>
#include <thread>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

FailureOr<Session> Session::create(ModuleOp module) {
  Session session(module);
  for (auto variable : module.getOps<VariableOp>()) {
    std::optional<HostTensor> value = HostTensor::fromAttr(variable.getValue());
    if (!value)
      return variable.emitOpError("has a value that cannot be read"), failure();
    session.state.emplace(variable.getTensorName().str(), std::move(*value));
  }
  return session;
}

std::vector<Session::Part> Session::getParts(StringRef name, const dist::MeshShape &mesh) {
  std::vector<Part> parts;
  if (auto function = module.lookupSymbol<func::FuncOp>(name)) {
    const auto all = llvm::seq<int64_t>(0, mesh.worldSize());
    parts.push_back({function, std::vector<int64_t>(all.begin(), all.end())});
  }
  for (auto stage : module.getOps<ModuleOp>()) {
    auto number = stage->getAttrOfType<IntegerAttr>(dist::DistDialect::kStageAttrName);
    auto function = stage.lookupSymbol<func::FuncOp>(name);
    const std::optional<unsigned> axis = mesh.axisIndex(dist::kPipeAxis);
    if (!number || !function || !axis)
      continue;
    Part part{function, {}};
    for (int64_t rank = 0; rank < mesh.worldSize(); ++rank)
      if (mesh.coordinates(rank)[*axis] == number.getInt())
        part.ranks.push_back(rank);
    parts.push_back(std::move(part));
  }
  return parts;
}

bool Session::hasFunction(StringRef name) {
  return !getParts(name, dist::getMeshShape(module)).empty();
}

int64_t Session::getBatchSize(StringRef name) {
  for (const Part &part : getParts(name, dist::getMeshShape(module)))
    for (unsigned i = 0; i < func::FuncOp(part.function).getNumArguments(); ++i) {
      ArgAttr arg = getArg(part.function, i);
      if (arg && arg.getKind() == ArgKind::input && arg.getBatch() >= 0)
        return logicalType(part.function, i).getDimSize(arg.getBatch());
    }
  return 1;
}

/// Returns the layout that `attr` holds; nullopt if `attr` is null or is not a
/// layout.
static std::optional<dist::Layout> layoutOf(Attribute attr) {
  auto layout = dyn_cast_or_null<dist::LayoutAttr>(attr);
  if (!layout)
    return std::nullopt;
  return layout.getLayout();
}

RankedTensorType Session::logicalType(func::FuncOp function, unsigned index) {
  RankedTensorType type = typeOf(function.getArgument(index));
  std::optional<dist::Layout> layout =
      layoutOf(function.getArgAttr(index, dist::DistDialect::kLayoutAttrName));
  return layout ? withShape(type, layout->shape()) : type;
}

int64_t Session::getRankCount() { return dist::getMeshShape(module).worldSize(); }

/// Returns the shard of `global` on the device at `coordinates`; padding is
/// zero.
static HostTensor shardOf(const HostTensor &global, const dist::Layout &layout,
                          ArrayRef<int64_t> coordinates, const dist::MeshShape &mesh) {
  HostTensor local(withShape(global.getType(), dist::localShape(layout, mesh)));
  if (local.isFloat())
    dist::copyToLocal(global.floats.data(), local.floats.data(), 8, layout, coordinates, mesh);
  else
    dist::copyToLocal(global.ints.data(), local.ints.data(), 8, layout, coordinates, mesh);
  return local;
}

/// Converts the elements of `source` to the element type of `type`.
static HostTensor converted(const HostTensor &source, RankedTensorType type) {
  HostTensor result(type);
  for (int64_t i = 0, e = result.size(); i < e; ++i) {
    if (result.isFloat())
      result.floats[i] = source.isFloat() ? source.floats[i] : double(source.ints[i]);
    else
      result.ints[i] = source.isFloat() ? int64_t(source.floats[i]) : source.ints[i];
  }
  result.roundToType();
  return result;
}

/// Returns consecutive samples of `array`, whose first dimension counts
/// samples. The result has the shape of `type`, and its dimension `batch`
/// counts samples. The first sample is row `firstRow` of `array`. Row 0 follows
/// after the last row.
static HostTensor takeRows(const HostTensor &array, int64_t firstRow, int64_t batch,
                           RankedTensorType type) {
  int64_t total = array.getShape()[0];
  SmallVector<int64_t> from = rowMajorStrides(array.getShape());
  HostTensor result(RankedTensorType::get(type.getShape(), array.getType().getElementType()));
  int64_t to = 0;
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index) {
    int64_t offset = (firstRow + index[batch]) % total * from[0];
    size_t next = 1;
    for (size_t d = 0; d < index.size(); ++d)
      if (static_cast<int64_t>(d) != batch)
        offset += index[d] * from[next++];
    if (result.isFloat())
      result.floats[to++] = array.floats[offset];
    else
      result.ints[to++] = array.ints[offset];
  });
  return result;
}

FailureOr<HostTensor> Session::argument(func::FuncOp function, unsigned index, const DataSet &data,
                                        int64_t firstRow,
                                        const std::map<std::string, double> &control) {
  ArgAttr arg = getArg(function, index);
  RankedTensorType type = logicalType(function, index);
  if (!arg)
    return function.emitError("argument ") << index << " has no #nn.arg", failure();
  std::string name = arg.getName().str();
  switch (arg.getKind()) {
  case ArgKind::control: {
    auto it = control.find(name);
    if (it == control.end())
      return function.emitError("no value for control ") << name, failure();
    return HostTensor::splat(type, it->second);
  }
  case ArgKind::input:
  case ArgKind::label: {
    auto it = data.arrays.find(name);
    if (it == data.arrays.end())
      return function.emitError("the data has no array '") << name << "'", failure();
    const HostTensor &array = it->second;
    SmallVector<int64_t> expected(type.getShape()), shape(array.getShape());
    if (arg.getBatch() >= 0) {
      expected.erase(expected.begin() + arg.getBatch());
      if (!shape.empty())
        shape.erase(shape.begin());
    }
    if (expected != shape || (arg.getBatch() >= 0 && array.getRank() == 0))
      return function.emitError("array '") << name << "' of type " << array.getType()
                                           << " does not fit the argument's " << type,
             failure();
    if (arg.getBatch() < 0)
      return converted(array, type);
    return converted(takeRows(array, firstRow, arg.getBatch(), type), type);
  }
  default: {
    auto it = state.find(name);
    if (it == state.end())
      return function.emitError("no variable holds ") << name, failure();
    return it->second;
  }
  }
}

LogicalResult Session::addArguments(const Part &part, const DataSet &data, int64_t firstRow,
                                    const std::map<std::string, double> &control,
                                    const dist::MeshShape &mesh, RankTensors &arguments) {
  func::FuncOp function = part.function;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (dist::StorageAttr storage = dist::getArgStorage(function, i)) {
      std::string missing;
      FailureOr<std::vector<HostTensor>> held =
          storeFlat(state, storage, typeOf(function.getArgument(i)), mesh, missing);
      if (failed(held))
        return function.emitError("no variable holds ") << missing;
      for (int64_t rank : part.ranks)
        arguments[rank].push_back(std::move((*held)[rank]));
      continue;
    }
    FailureOr<HostTensor> value = argument(function, i, data, firstRow, control);
    if (failed(value))
      return failure();
    std::optional<dist::Layout> layout =
        layoutOf(function.getArgAttr(i, dist::DistDialect::kLayoutAttrName));
    for (int64_t rank : part.ranks)
      arguments[rank].push_back(layout ? shardOf(*value, *layout, mesh.coordinates(rank), mesh)
                                       : *value);
  }
  return success();
}

FailureOr<Session::RankTensors>
Session::evaluateOnRanks(ArrayRef<Part> parts, RankTensors arguments, const dist::MeshShape &mesh) {
  World world(mesh);
  RankTensors results(mesh.worldSize());
  std::vector<std::thread> threads;
  std::atomic<bool> failedAnywhere = false;
  int64_t idle = mesh.worldSize();
  for (const Part &part : parts)
    idle -= part.ranks.size();
  // A stage may have nothing to do in a function.
  for (; idle > 0; --idle)
    world.finish();
  for (const Part &part : parts)
    for (int64_t rank : part.ranks)
      threads.emplace_back([&, rank, function = part.function] {
        WorldMember device(world, rank);
        FailureOr<std::vector<HostTensor>> own =
            evaluate(function, std::move(arguments[rank]), device);
        if (succeeded(own)) {
          results[rank] = std::move(*own);
          world.finish();
          return;
        }
        failedAnywhere = true;
        world.abort();
      });
  for (std::thread &thread : threads)
    thread.join();
  if (failedAnywhere)
    return failure();
  return results;
}

/// Whether two tensors have the same elements. Every NaN equals every other NaN.
static bool haveSameBits(const HostTensor &a, const HostTensor &b) {
  return a.ints == b.ints && llvm::equal(a.floats, b.floats, [](double x, double y) {
           return x == y || (std::isnan(x) && std::isnan(y));
         });
}

/// Returns the logical tensor of result `index`, joined from its shards on all ranks.
/// `results` has, for each rank, the results of the function on that rank.
static HostTensor gatherResult(func::FuncOp function, unsigned index, ArrayRef<int64_t> ranks,
                               const std::vector<std::vector<HostTensor>> &results,
                               const dist::MeshShape &mesh) {
  const HostTensor &first = results[ranks.front()][index];
  std::optional<dist::Layout> layout =
      layoutOf(function.getResultAttr(index, dist::DistDialect::kLayoutAttrName));
  if (!layout)
    return first;
  HostTensor global(withShape(first.getType(), layout->shape()));
  for (int64_t rank : ranks) {
    const HostTensor &local = results[rank][index];
    if (global.isFloat())
      dist::copyToGlobal(local.floats.data(), global.floats.data(), 8, *layout,
                         mesh.coordinates(rank), mesh);
    else
      dist::copyToGlobal(local.ints.data(), global.ints.data(), 8, *layout, mesh.coordinates(rank),
                         mesh);
  }
  return global;
}

LogicalResult Session::takeResults(const Part &part, RankTensors &results,
                                   const dist::MeshShape &mesh, TensorMap &newState,
                                   TensorMap &other) {
  func::FuncOp function = part.function;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    if (dist::StorageAttr storage = dist::getResultStorage(function, index)) {
      std::vector<HostTensor> held(mesh.worldSize());
      for (int64_t rank : part.ranks)
        held[rank] = std::move(results[rank][index]);
      loadFlat(held, part.ranks, storage, mesh, newState);
      continue;
    }
    ResultAttr attr = getResult(function, index);
    if (!attr)
      return function.emitError("result ") << index << " has no #nn.result";
    HostTensor value = gatherResult(function, index, part.ranks, results, mesh);
    if (attr.getKind() != ResultKind::state) {
      other.insert_or_assign(attr.getName().str(), std::move(value));
      continue;
    }
    const auto [known, isNew] = newState.try_emplace(attr.getName().str(), value);
    if (!isNew && !haveSameBits(known->second, value))
      return function.emitError("result ")
             << index << ": two stages compute different new values of '" << attr.getName() << "'";
  }
  return success();
}

FailureOr<TensorMap> Session::run(StringRef name, const DataSet &data, int64_t firstRow,
                                  const std::map<std::string, double> &control) {
  const dist::MeshShape mesh = dist::getMeshShape(module);
  const std::vector<Part> parts = getParts(name, mesh);
  if (parts.empty())
    return module.emitError("has no function @") << name, failure();
  RankTensors arguments(mesh.worldSize());
  for (const Part &part : parts)
    if (failed(addArguments(part, data, firstRow, control, mesh, arguments)))
      return failure();
  FailureOr<RankTensors> results = evaluateOnRanks(parts, std::move(arguments), mesh);
  if (failed(results))
    return failure();
  TensorMap newState, other;
  for (const Part &part : parts)
    if (failed(takeResults(part, *results, mesh, newState, other)))
      return failure();
  for (auto &[tensor, value] : newState)
    state.insert_or_assign(tensor, std::move(value));
  return other;
}

// This function implements the formula that `#nn.learning_rate` documents,
// independently of the runtime, so that tests can compare the two
// implementations.
double Session::getLearningRate(int64_t stepsDone, int64_t steps) {
  auto rate = module->getAttrOfType<LearningRateAttr>(NNDialect::kLearningRateAttrName);
  if (!rate)
    return 0;
  const double base = rate.getBase().getValueAsDouble();
  const double low = rate.getMinimum().getValueAsDouble();
  const int64_t total = rate.getTotal() ? rate.getTotal() : steps;
  const int64_t warmup = rate.getWarmupPpm()
                             ? int64_t(std::ceil(double(total) * double(rate.getWarmupPpm()) / 1e6))
                             : rate.getWarmup();
  if (stepsDone < warmup)
    return base * double(stepsDone) / double(warmup);
  if (rate.getDecay() == DecayKind::constant)
    return base;
  if (stepsDone >= total || total <= warmup)
    return low;
  const double progress = double(stepsDone - warmup) / double(total - warmup);
  const double left = rate.getDecay() == DecayKind::cosine
                          ? (1 + std::cos(llvm::numbers::pi * progress)) / 2
                          : 1 - progress;
  return low + (base - low) * left;
}
