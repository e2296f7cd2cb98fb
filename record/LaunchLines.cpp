// Writes the launches of a program as lines of JSON, for scripts that judge its kernels.

#include "record/LaunchLines.h"

#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/CallSyntax.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/Exec/IR/Kernels.h"
#include "dialects/Interfaces/ElementTypes.h"
#include "dialects/Interfaces/NodeNames.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

namespace {
/// Writes the fields of a library call as attributes of a JSON object.
class JsonCallFields : public CallFields {
public:
  JsonCallFields(llvm::json::OStream &json, MLIRContext *context) : json(json), context(context) {}

  void number(StringRef name, uint64_t &value) override {
    json.attribute(name, static_cast<int64_t>(value));
  }
  void numbers(StringRef name, MutableArrayRef<uint64_t> values) override {
    json.attributeArray(name, [&] {
      for (uint64_t value : values)
        json.value(static_cast<int64_t>(value));
    });
  }
  void flag(StringRef name, uint32_t &value) override { json.attribute(name, value != 0); }
  void type(StringRef name, uint32_t &dtype) override {
    json.attribute(name, typeText(elementTypeOf(dtype, context)));
  }
  void word(StringRef name, uint32_t &value, ArrayRef<StringRef> words) override {
    json.attribute(name, words[value]);
  }
  void group(StringRef name, function_ref<void()> visit) override {
    json.attributeObject(name, visit);
  }

private:
  llvm::json::OStream &json;
  MLIRContext *context;
};

/// Writes the lines of one program of a rank.
class LineWriter {
public:
  LineWriter(ModuleOp program, ModuleOp kernels, ArrayRef<KernelObject> objects, FactorForm factors,
             const KernelEstimates &estimates, llvm::raw_ostream &out)
      : program(program), kernels(kernels), factors(factors), estimates(estimates), out(out) {
    for (const KernelObject &object : objects)
      byKernel[object.kernel] = &object;
  }

  void writeFunctions(std::optional<int64_t> ofStage) {
    stage = ofStage;
    for (auto each : program.getOps<FunctionOp>()) {
      function = each;
      number = 0;
      kernelNumber = 0;
      for (Operation &op : function.getBodyBlock()) {
        if (auto launch = dyn_cast<LaunchOp>(op))
          writeKernel(launch);
        else if (auto copy = dyn_cast<CopyOp>(op))
          writePlain(copy, "copy", {{copy.getInput(), "operand"}, {copy.getOutput(), "result"}});
        if (isa<LaunchOp, CopyOp>(op))
          ++kernelNumber;
        if (auto microbatch = dyn_cast<MicrobatchOp>(op))
          writePlain(microbatch, "fill", {{microbatch.getOutput(), "result"}});
      }
    }
  }

private:
  /// A buffer of a launch and its role: operand, result or scratch.
  using RoledBuffer = std::pair<Value, StringRef>;

  void writeLine(StringRef kind, function_ref<void(llvm::json::OStream &)> writeRest) {
    llvm::json::OStream json(out);
    json.object([&] {
      json.attribute("entry", function.getEntry());
      json.attribute("function", function.getSymName());
      if (stage)
        json.attribute("stage", *stage);
      json.attribute("number", number++);
      json.attribute("kind", kind);
      writeRest(json);
    });
    json.flush();
    out << "\n";
  }

  static void writeNodes(llvm::json::OStream &json, Location own, Location shared) {
    SmallVector<StringRef> nodes = nodesOf(own);
    if (nodes.empty())
      nodes = nodesOf(shared);
    json.attributeArray("nodes", [&] {
      for (StringRef node : nodes)
        json.value(llvm::json::fixUTF8(node));
    });
  }

  static void writeBuffer(llvm::json::OStream &json, const RoledBuffer &buffer) {
    auto type = cast<MemRefType>(buffer.first.getType());
    const int64_t bytes = bufferBytes(type), elements = type.getNumElements();
    const int64_t element = elements > 0 ? bytes / elements : 0;
    json.object([&] {
      json.attribute("role", buffer.second);
      json.attribute("type", typeText(type.getElementType()));
      json.attributeArray("shape", [&] {
        for (int64_t extent : type.getShape())
          json.value(extent);
      });
      json.attribute("bytes", bytes);
      json.attribute("run", type.getRank() > 0 ? element * type.getShape().back() : element);
      json.attribute("written", buffer.second != "operand");
    });
  }

  static void writeBuffers(llvm::json::OStream &json, ArrayRef<RoledBuffer> buffers) {
    json.attributeArray("buffers", [&] {
      for (const RoledBuffer &buffer : buffers)
        writeBuffer(json, buffer);
    });
  }

  void writePlain(Operation *op, StringRef kind, ArrayRef<RoledBuffer> buffers) {
    writeLine(kind, [&](llvm::json::OStream &json) {
      writeNodes(json, op->getLoc(), op->getLoc());
      writeBuffers(json, buffers);
      if (kind == "copy")
        writeEstimate(json, /*part=*/0, /*parts=*/1);
    });
  }

  /// Writes the estimate of the entire kernel, of which the launch is the part number `part`.
  void writeEstimate(llvm::json::OStream &json, size_t part, size_t parts) {
    std::string name = function.getSymName().str();
    if (stage)
      name = program.getSymName()->str() + "." + name;
    auto known = estimates.find(name);
    if (known == estimates.end()) // no entry calls the function
      return;
    const KernelEstimate &estimate = known->second.at(kernelNumber);
    json.attributeObject("estimate", [&] {
      json.attribute("part", static_cast<int64_t>(part));
      json.attribute("parts", static_cast<int64_t>(parts));
      json.attribute("class", nameOf(estimate.kind));
      json.attribute("flops", estimate.flops);
      json.attribute("bytes", estimate.bytes);
      json.attribute("us", 1e6 * estimate.seconds);
    });
  }

  static void writeOps(llvm::json::OStream &json, StringRef ops) {
    json.attributeArray("ops", [&] {
      for (StringRef op : llvm::split(ops, ' ')) {
        auto [name, type] = op.split(':');
        json.object([&, &name = name, &type = type] {
          json.attribute("name", name);
          json.attribute("type", type);
        });
      }
    });
  }

  static void writeCall(llvm::json::OStream &json, CallAttr call, ArrayRef<RoledBuffer> buffers) {
    const CallSyntax *syntax = findCallSyntax(call.getKind());
    std::string description = call.getDescription().str();
    json.attributeObject("call", [&] {
      json.attribute("kind", syntax->getName());
      JsonCallFields fields(json, call.getContext());
      syntax->visit(fields, description);
      json.attributeArray("bytes", [&] {
        for (const CallBuffer &buffer : call.getBuffers()) {
          Type type = buffers[static_cast<size_t>(buffer.buffer)].first.getType();
          const int64_t rest = bufferBytes(type) - buffer.offset;
          json.value(buffer.bytes ? std::min(*buffer.bytes, rest) : rest);
        }
      });
    });
  }

  /// Writes the names of the ops in the kernel, before they are decomposed. So they include e.g. an
  /// attention that the target computes as products and a softmax.
  static void writeKernelOps(llvm::json::OStream &json, func::FuncOp kernel) {
    llvm::SetVector<StringRef> names;
    Operation *body = getKernelBody(kernel);
    body->getRegion(0).walk([&](Operation *op) {
      if (!op->hasTrait<OpTrait::IsTerminator>() && !op->hasTrait<OpTrait::ConstantLike>())
        names.insert(op->getName().stripDialect());
    });
    json.attributeArray("kernelOps", [&] {
      for (StringRef name : names)
        json.value(name);
    });
  }

  void writeKernel(LaunchOp launch) {
    auto kernel =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
    auto grids = kernel->getAttrOfType<ArrayAttr>(ExecDialect::kLaunchesAttrName);
    if (!grids) // the kernel has no elements to compute
      return;
    SmallVector<RoledBuffer> all;
    for (Value buffer : launch.getInputs())
      all.push_back({buffer, "operand"});
    for (Value buffer : launch.getOutputs())
      all.push_back({buffer, "result"});
    for (Value buffer : launch.getScratch())
      all.push_back({buffer, "scratch"});
    auto code = kernels.lookupSymbol<ModuleOp>(launch.getKernel());
    auto ops = code->getAttrOfType<ArrayAttr>(kLaunchOpsAttrName);
    const KernelObject &object = *byKernel[launch.getKernel()];
    size_t part = 0;
    for (auto [grid, opsOfGrid] : llvm::zip_equal(grids.getAsRange<GridAttr>(), ops)) {
      SmallVector<RoledBuffer> own;
      for (int64_t index : grid.getBuffers().asArrayRef())
        own.push_back(all[static_cast<size_t>(index)]);
      StringRef names = cast<StringAttr>(opsOfGrid).getValue();
      CallAttr call = grid.getCall();
      writeLine(call ? "call" : "kernel", [&, grid = grid](llvm::json::OStream &json) {
        json.attribute("kernel", object.symbol + grid.getEntry().str());
        json.attribute("file", object.symbol);
        json.attribute("name", launch.getKernel());
        writeNodes(json, launch->getLoc(), kernel->getLoc());
        writeOps(json, names);
        writeKernelOps(json, kernel);
        json.attribute("factors", nameOf(factors));
        json.attribute("blocks", grid.getBlocks());
        json.attribute("threads", grid.getThreads());
        json.attribute("sharedBytes", grid.getShared());
        writeBuffers(json, own);
        if (call)
          writeCall(json, call, all);
        writeEstimate(json, part++, grids.size());
      });
    }
  }

  ModuleOp program, kernels;
  FactorForm factors;
  const KernelEstimates &estimates;
  llvm::raw_ostream &out;
  llvm::StringMap<const KernelObject *> byKernel;
  std::optional<int64_t> stage;
  FunctionOp function;
  int64_t number = 0;
  size_t kernelNumber = 0; ///< number of the kernel or copy in the function
};
} // namespace

void dpc::writeLaunchLines(ModuleOp program, ModuleOp kernels, ArrayRef<KernelObject> objects,
                           FactorForm factors, const KernelEstimates &estimates,
                           llvm::raw_ostream &out) {
  for (dist::RankProgram each : dist::programsOf(program))
    LineWriter(each.module, kernels, objects, factors, estimates, out).writeFunctions(each.stage);
}
