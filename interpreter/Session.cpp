// Runs the entries of a program in the interpreter: shards the arguments, runs
// one thread per rank, and joins the shards of the results.

#include "interpreter/Session.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/LayoutShards.h"
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

int64_t Session::getBatchSize(StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i) {
    ArgAttr arg = getArg(function, i);
    if (arg && arg.getKind() == ArgKind::input && arg.getBatch() >= 0)
      return logicalType(function, i).getDimSize(arg.getBatch());
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

FailureOr<Session::RankTensors> Session::getArguments(func::FuncOp function, const DataSet &data,
                                                      int64_t firstRow,
                                                      const std::map<std::string, double> &control,
                                                      const dist::MeshShape &mesh) {
  const int64_t ranks = mesh.worldSize();
  RankTensors arguments(ranks);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (dist::StorageAttr storage = dist::getArgStorage(function, i)) {
      std::string missing;
      FailureOr<std::vector<HostTensor>> held =
          storeFlat(state, storage, typeOf(function.getArgument(i)), mesh, missing);
      if (failed(held))
        return function.emitError("no variable holds ") << missing, failure();
      for (int64_t rank = 0; rank < ranks; ++rank)
        arguments[rank].push_back(std::move((*held)[rank]));
      continue;
    }
    FailureOr<HostTensor> value = argument(function, i, data, firstRow, control);
    if (failed(value))
      return failure();
    std::optional<dist::Layout> layout =
        layoutOf(function.getArgAttr(i, dist::DistDialect::kLayoutAttrName));
    for (int64_t rank = 0; rank < ranks; ++rank)
      arguments[rank].push_back(layout ? shardOf(*value, *layout, mesh.coordinates(rank), mesh)
                                       : *value);
  }
  return arguments;
}

FailureOr<Session::RankTensors> Session::evaluateOnRanks(func::FuncOp function,
                                                         RankTensors arguments,
                                                         const dist::MeshShape &mesh) {
  const int64_t ranks = mesh.worldSize();
  World world(mesh);
  RankTensors results(ranks);
  std::vector<std::thread> threads;
  std::atomic<bool> failedAnywhere = false;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      WorldMember device(world, rank);
      FailureOr<std::vector<HostTensor>> own =
          evaluate(function, std::move(arguments[rank]), device);
      if (succeeded(own)) {
        results[rank] = std::move(*own);
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

/// Returns the logical tensor of result `index`, joined from its shards on all ranks.
/// `results` has, for each rank, the results of the function on that rank.
static HostTensor gatherResult(func::FuncOp function, unsigned index,
                               const std::vector<std::vector<HostTensor>> &results,
                               const dist::MeshShape &mesh) {
  const HostTensor &first = results[0][index];
  std::optional<dist::Layout> layout =
      layoutOf(function.getResultAttr(index, dist::DistDialect::kLayoutAttrName));
  if (!layout)
    return first;
  HostTensor global(withShape(first.getType(), layout->shape()));
  for (int64_t rank = 0; rank < mesh.worldSize(); ++rank) {
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

FailureOr<TensorMap> Session::run(StringRef name, const DataSet &data, int64_t firstRow,
                                  const std::map<std::string, double> &control) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return module.emitError("has no function @") << name, failure();
  dist::MeshShape mesh = dist::getMeshShape(module);
  FailureOr<RankTensors> arguments = getArguments(function, data, firstRow, control, mesh);
  if (failed(arguments))
    return failure();
  FailureOr<RankTensors> results = evaluateOnRanks(function, std::move(*arguments), mesh);
  if (failed(results))
    return failure();
  TensorMap other;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    if (dist::StorageAttr storage = dist::getResultStorage(function, index)) {
      std::vector<HostTensor> held;
      for (std::vector<HostTensor> &own : *results)
        held.push_back(std::move(own[index]));
      loadFlat(held, storage, mesh, state);
      continue;
    }
    ResultAttr attr = getResult(function, index);
    if (!attr)
      return function.emitError("result ") << index << " has no #nn.result", failure();
    TensorMap &target = attr.getKind() == ResultKind::state ? state : other;
    target.insert_or_assign(attr.getName().str(), gatherResult(function, index, *results, mesh));
  }
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
