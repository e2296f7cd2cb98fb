// Implements the checks of a program's plan, and its text.

#include "planning/Plan.h"

#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace dpc;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Error checkChunks(const ProgramPlan &plan) {
  const int64_t chunks = plan.chunksPerStage, stages = plan.stages();
  if (chunks < 1)
    return planError("a stage runs {0} chunks", chunks);
  if (chunks > 1 && stages == 1)
    return planError("{0} chunks per stage need the mesh axis {1}", chunks, kPipeAxis);
  const bool isInterleaved = plan.schedule == ScheduleKind::interleaved;
  const int64_t most = isInterleaved ? chunks : plan.schedule == ScheduleKind::zeroBubble ? 2 : 1;
  if (chunks > most)
    return planError("a stage of schedule {0} runs at most {1} chunks, not {2}",
                     nameOf(plan.schedule), most, chunks);
  if (!plan.cutNodes.empty() && int64_t(plan.cutNodes.size()) != stages * chunks - 1)
    return planError("{0} nodes start chunks, but {1} stages with {2} chunks each need {3}",
                     plan.cutNodes.size(), stages, chunks, stages * chunks - 1);
  if (plan.cutBytes < 0)
    return planError("a stage holds {0} bytes", plan.cutBytes);
  if (plan.cutBytes > 0 && (stages == 1 || !plan.cutNodes.empty()))
    return planError("a stage holds {0} bytes, but no cut is searched", plan.cutBytes);
  if (!plan.scheduleBytes.empty() && (stages == 1 || int64_t(plan.scheduleBytes.size()) != stages))
    return planError("the microbatches of {0} stages may hold some bytes, but {1} stages exist",
                     plan.scheduleBytes.size(), stages);
  for (int64_t bytes : plan.scheduleBytes)
    if (bytes < 0)
      return planError("the microbatches of a stage may hold {0} bytes", bytes);
  if (isInterleaved && std::max<int64_t>(plan.microbatches, 1) % stages)
    return planError("schedule {0} with {1} chunks per stage needs a number of microbatches that "
                     "the {2} stages divide, not {3}",
                     nameOf(plan.schedule), chunks, stages,
                     std::max<int64_t>(plan.microbatches, 1));
  return Error::success();
}

static Error checkMesh(const ProgramPlan &plan) {
  StringSet<> names;
  for (const PlanAxis &axis : plan.mesh) {
    if (axis.size < 1)
      return planError("mesh axis '{0}' has {1} devices", axis.name, axis.size);
    if (!names.insert(axis.name).second)
      return planError("mesh axis '{0}' is given twice", axis.name);
  }
  if (plan.microbatches < 0)
    return planError("a batch is cut into {0} microbatches", plan.microbatches);
  if (plan.schedule != ScheduleKind::oneForwardOneBackward && plan.stages() == 1)
    return planError("schedule {0} needs the mesh axis {1}", nameOf(plan.schedule), kPipeAxis);
  return checkChunks(plan);
}

static Error checkZero(const ProgramPlan &plan) {
  const ZeroChoice &zero = plan.zero;
  const int64_t stage = static_cast<int64_t>(zero.stage);
  if (stage < -1 || stage > 3)
    return planError("stage {0} of divided state is none of -1 to 3", stage);
  for (const std::string &name : zero.axes)
    if (none_of(plan.mesh, [&](const PlanAxis &axis) { return axis.name == name; }))
      return planError("state is divided over '{0}', which is no axis of the mesh", name);
  if (zero.keptBytes < 0)
    return planError("{0} bytes of gathered parameters are kept", zero.keptBytes);
  if (zero.keptBytes > 0 && zero.stage != ZeroStage::parameters)
    return planError("{0} bytes of gathered parameters are kept at stage {1}, which divides none",
                     zero.keptBytes, stage);
  return Error::success();
}

int64_t ProgramPlan::stages() const {
  for (const PlanAxis &axis : mesh)
    if (axis.name == kPipeAxis)
      return axis.size;
  return 1;
}

Error ProgramPlan::check() const {
  if (Error error = checkMesh(*this))
    return error;
  if (Error error = checkZero(*this))
    return error;
  if (remat.savedBytes < RematChoice::all)
    return planError("recomputation saves {0} bytes", remat.savedBytes);
  if (remat.savedBytes != 0 && !remat.nodes.empty())
    return planError("recomputation saves {0} bytes and is of the nodes '{1}' alone",
                     remat.savedBytes, join(remat.nodes, ","));
  for (int64_t stage : remat.stages)
    if (stage < 0 || stage >= stages())
      return planError("stage {0} of {1} computes values again", stage, stages());
  if (buckets.first < 1 || buckets.later < 1)
    return planError("buckets close at {0} and {1} bytes", buckets.first, buckets.later);
  if (deviceBytes < 0)
    return planError("a device has {0} bytes", deviceBytes);
  if (kernels.orderedSums && kernels.factors != FactorForm::whole)
    return planError("sums keep their order, and products of f32 are made in {0}",
                     nameOf(kernels.factors));
  if (kernels.orderedSums && kernels.products == ProductMaker::library)
    return planError("sums keep their order, and a library multiplies matrices");
  if (kernels.factors == FactorForm::split && kernels.products == ProductMaker::library)
    return planError("products of f32 are made in tf32x3, which the library has not");
  return Error::success();
}

static std::string meshText(const std::vector<std::pair<std::string, int64_t>> &mesh) {
  std::string text;
  for (const auto &[name, size] : mesh)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(size);
  return text.empty() ? "one device" : text;
}

Error ProgramPlan::verify(const PlannedProgram &program) const {
  if (!program.trains) {
    if (!remat.isNone())
      return planError("values are computed again in a backward pass, which the program has not");
    if (zero.stage == ZeroStage::optimizer || zero.stage == ZeroStage::gradients)
      return planError("stage {0} divides state of an optimizer, which the program has not",
                       static_cast<int64_t>(zero.stage));
  }
  if (!program.hasMatrixUnits) {
    if (kernels.factors != FactorForm::whole)
      return planError("products of f32 are made in {0}, which the target has not",
                       nameOf(kernels.factors));
    if (kernels.products != ProductMaker::bySize)
      return planError("products are made by '{0}', but the target leaves no choice",
                       nameOf(kernels.products));
  }
  if (!program.mesh)
    return Error::success();
  std::vector<std::pair<std::string, int64_t>> own;
  for (const PlanAxis &axis : mesh)
    own.emplace_back(axis.name, axis.size);
  if (own != *program.mesh)
    return planError("is for a mesh of {0}, but the program is laid out for {1}", meshText(own),
                     meshText(*program.mesh));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void print(raw_ostream &os, StringRef text) {
  os << '"';
  printEscapedString(text, os);
  os << '"';
}
static void print(raw_ostream &os, const std::string &text) { print(os, StringRef(text)); }
static void print(raw_ostream &os, int64_t value) { os << value; }
static void print(raw_ostream &os, bool value) { os << (value ? "true" : "false"); }
static void print(raw_ostream &os, ZeroStage stage) { os << static_cast<int64_t>(stage); }
static void print(raw_ostream &os, ProductMaker maker) { print(os, nameOf(maker)); }
static void print(raw_ostream &os, FactorForm form) { print(os, nameOf(form)); }
static void print(raw_ostream &os, ScheduleKind kind) { print(os, nameOf(kind)); }

static void print(raw_ostream &os, const PlanAxis &axis) {
  print(os, axis.name);
  os << " = " << axis.size << (axis.cutsBatch ? " batch" : "");
}

template <typename T> static void print(raw_ostream &os, const std::vector<T> &list) {
  os << '[';
  interleaveComma(list, os, [&](const T &element) { print(os, element); });
  os << ']';
}

/// Returns each choice as a text `name = value`.
static SmallVector<std::string> textsOf(const ProgramPlan &plan) {
  SmallVector<std::string> texts;
  visitFields(plan, [&](StringRef name, const auto &value) {
    raw_string_ostream os(texts.emplace_back());
    os << name << " = ";
    print(os, value);
  });
  return texts;
}

std::string dpc::toString(const ProgramPlan &plan) {
  std::string text;
  for (const auto &[own, other] : zip_equal(textsOf(plan), textsOf(ProgramPlan())))
    if (own != other)
      text += (text.empty() ? "" : ", ") + own;
  return text;
}

bool dpc::operator==(const ProgramPlan &a, const ProgramPlan &b) {
  return toString(a) == toString(b);
}

hash_code dpc::hash_value(const ProgramPlan &plan) { return llvm::hash_value(toString(plan)); }
