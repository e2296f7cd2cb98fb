// Prints and parses `#dist.plan`, and gets and sets the plan of a module.

#include "dialects/Dist/IR/PlanAttr.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

void dist::setPlan(ModuleOp module, const ProgramPlan &plan) {
  module->setAttr(DistDialect::kPlanAttrName, PlanAttr::get(module.getContext(), plan));
}

FailureOr<ProgramPlan> dist::getPlan(ModuleOp module) {
  if (auto attr = module->getAttrOfType<PlanAttr>(DistDialect::kPlanAttrName))
    return attr.getPlan();
  return module.emitError("has no plan (dist.plan)");
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult parse(AsmParser &parser, std::string &value) {
  return parser.parseString(&value);
}

static ParseResult parse(AsmParser &parser, int64_t &value) { return parser.parseInteger(value); }

static ParseResult parse(AsmParser &parser, bool &value) {
  const llvm::SMLoc start = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  value = word == "true";
  if (!value && word != "false")
    return parser.emitError(start) << "'" << word << "' is neither true nor false";
  return success();
}

static ParseResult parse(AsmParser &parser, ZeroStage &stage) {
  int64_t number;
  if (parser.parseInteger(number))
    return failure();
  stage = static_cast<ZeroStage>(number);
  return success();
}

/// Parses the name of a value, of which `find` knows those that `names` lists.
template <typename Enum>
static ParseResult parseName(AsmParser &parser, Enum &value, std::optional<Enum> (*find)(StringRef),
                             StringRef names) {
  const llvm::SMLoc start = parser.getCurrentLocation();
  std::string name;
  if (parser.parseString(&name))
    return failure();
  std::optional<Enum> parsed = find(name);
  if (!parsed)
    return parser.emitError(start) << "'" << name << "' is none of " << names;
  value = *parsed;
  return success();
}

static ParseResult parse(AsmParser &parser, ProductMaker &maker) {
  return parseName(parser, maker, parseProductMaker, "auto, generated and library");
}

static ParseResult parse(AsmParser &parser, FactorForm &form) {
  return parseName(parser, form, parseFactorForm, "f32, tf32 and tf32x3");
}

static ParseResult parse(AsmParser &parser, ScheduleKind &kind) {
  return parseName(parser, kind, parseSchedule, "gpipe, 1f1b, interleaved and zero-bubble");
}

static ParseResult parse(AsmParser &parser, PlanAxis &axis) {
  if (parser.parseString(&axis.name) || parser.parseEqual() || parser.parseInteger(axis.size))
    return failure();
  axis.cutsBatch = succeeded(parser.parseOptionalKeyword("batch"));
  return success();
}

template <typename T> static ParseResult parse(AsmParser &parser, std::vector<T> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parse(parser, list.emplace_back()); });
}

Attribute PlanAttr::parse(AsmParser &parser, Type) {
  ProgramPlan plan;
  auto parseChoice = [&]() -> ParseResult {
    const llvm::SMLoc start = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return failure();
    bool isKnown = false;
    ParseResult result = success();
    visitFields(plan, [&](StringRef name, auto &value) {
      if (name != keyword)
        return;
      isKnown = true;
      result = ::parse(parser, value);
    });
    if (!isKnown)
      return parser.emitError(start) << "a plan has no choice '" << keyword << "'";
    return result;
  };
  const llvm::SMLoc start = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater, parseChoice))
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), plan);
}

void PlanAttr::print(AsmPrinter &printer) const { printer << "<" << toString(getPlan()) << ">"; }

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, ProgramPlan plan) {
  if (llvm::Error error = plan.check())
    return emitError() << "a plan: " << llvm::toString(std::move(error));
  return success();
}
