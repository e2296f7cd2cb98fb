// A module at level exec, emitted, compiled and loaded, for tests that read its
// program record through the runtime's own headers.
#ifndef DPC_TEST_UNIT_RECORD_LOADEDPROGRAM_H
#define DPC_TEST_UNIT_RECORD_LOADEDPROGRAM_H

#include "record/EmitProgram.h"
#include "record/LoadRecord.h"
#include "record/WriteObject.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dpc/program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

namespace dpc::test {

using namespace mlir;

inline const char *const kProgram = R"(
module attributes {
    dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {
      name = "two hosts", device = {TFLOP_per_s = {f32 = 1}, memory_GB_per_s = 1},
      levels = [{name = "host", size = 4, GB_per_s = 9}, {name = "net", GB_per_s = 1}]}>,
    exec.memory = #exec.memory<arena = 512, shared = 128, peak = 640, lowerBound = 600>,
    nn.learning_rate = #nn.learning_rate<base = 0.5 : f64, decay = cosine, warmup = 3, total = 10, minimum = 0.25 : f64>} {
  dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
  exec.persistent @state.w #nn.arg<parameter "w"> arena at 64 : memref<2x3xf32>
  exec.persistent @"state.m|w" #nn.arg<optimizer "m|w", of = "w"> arena at 128 : memref<2x3xf32>
  exec.persistent @state.mask #nn.arg<constant "mask"> arena at 192 : memref<4xi1>
  exec.persistent @state.f #nn.arg<buffer "f"> arena at 480 : memref<2xf32>
  exec.persistent @input.x #nn.arg<input "x", batch = 0> arena at 256 : memref<4x3xf64>
      {layout = #dist.layout<"[(8: data)], [3]">, nn.bounds = [array<i64: 2, 0, 4>, array<i64: 1, -1, 8, -7>]}
  exec.persistent @control.lr #nn.arg<control "learning_rate"> arena at 320 : memref<f32>
  exec.persistent @coordinate.data #exec.coordinate<"data"> arena at 328 : memref<i64>
  exec.persistent @metric.loss #nn.result<metric "loss"> arena at 384 : memref<f64>
  exec.persistent @metric.count #nn.result<metric "count"> arena at 448 : memref<f64>
  nn.variable @w = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  nn.variable @"m|w" = dense<0.25> : tensor<2x3xf32>
  nn.variable @f = dense<[1.0, 2.0]> : tensor<2xf32> {nn.frozen, nn.reordered,
      nn.file_tensors = [{name = "val_3", holds = "all", shape = array<i64: 1, 2>, strides = array<i64: 1>, shift = 1.0 : f64},
                         {name = "f", holds = "nothing", shape = array<i64>}]}
  nn.variable @mask = dense<[true, false, false, true]> : tensor<4xi1> {nn.unsaved}
  func.func private @k(%x: tensor<2x3xf64>) -> tensor<f64> attributes {exec.scratch_bytes = 16 : i64} {
    %0 = nn.reduce sum %x [0, 1] : tensor<2x3xf64> -> tensor<f64>
    return %0 : tensor<f64>
  }
  exec.function @step.0 piece 0 of @step {
    %w = exec.get @state.w : memref<2x3xf32>
    %c = exec.buffer arena at 0 number 1 : memref<i64>
    exec.microbatch into %c : memref<i64>
    %l = exec.get @metric.loss : memref<f64>
    %n = exec.get @metric.count : memref<f64>
    exec.copy %l to %n : memref<f64>
    %m = exec.get @"state.m|w" : memref<2x3xf32>
    exec.copy %m to %w : memref<2x3xf32>
    %g = exec.buffer shared at 64 number 0 : memref<16xf32>
    %s = exec.view %g at 0 stride 8 over ["data"] : memref<16xf32> to memref<2xf32>
    %f = exec.get @state.f : memref<2xf32>
    exec.copy %f to %s : memref<2xf32>
    %x = exec.get @input.x : memref<4x3xf64>
    %p = exec.view %x at 0 stride 48 : memref<4x3xf64> to memref<2x3xf64>
    %t = exec.buffer arena at 320 number 2 : memref<16xi8>
    exec.launch @k(%p) into (%l) scratch (%t) : (memref<2x3xf64>), (memref<f64>), (memref<16xi8>)
  }
  exec.entry @step {
    %g = exec.buffer shared at 64 number 0 : memref<16xf32>
    exec.loop 2 {
      exec.compute @step.0
    }
    %e = exec.start all_reduce sum over ["data"] %g to %g id 7 : memref<16xf32>, memref<16xf32>
    exec.wait %e
  }
}
)";

/// Gives the kernel @k, whose code is generated elsewhere, a body that doubles
/// its operand.
inline void defineKernel(llvm::Module &record) {
  llvm::Function *kernel = record.getFunction("k");
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(record.getContext(), "", kernel));
  auto at = [&](unsigned index) {
    return builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), kernel->getArg(0), index));
  };
  llvm::Value *x = builder.CreateLoad(builder.getDoubleTy(), at(0));
  builder.CreateStore(builder.CreateFAdd(x, x), at(1));
  builder.CreateRetVoid();
}

struct Loaded {
  /// Compiles and links the program, and reads the object by itself as well.
  explicit Loaded(FunctionForm form) {
    DialectRegistry registry;
    registry.insert<exec::ExecDialect, dist::DistDialect, nn::NNDialect, func::FuncDialect>();
    MLIRContext context(registry);
    auto module = parseSourceString<ModuleOp>(kProgram, &context);
    if (!module)
      return;
    ProgramOptions options;
    options.name = "model";
    options.isa = DPC_ISA_BASELINE;
    options.functions = form;
    llvm::LLVMContext llvmContext;
    std::vector<OutsideValue> values;
    auto record = emitProgram(*module, options, llvmContext, &values);
    if (!record)
      return;
    defineKernel(*record);
    llvm::SmallString<64> object, initial, library;
    llvm::sys::fs::createTemporaryFile("record", "o", object);
    llvm::sys::fs::createTemporaryFile("values", "o", initial);
    llvm::sys::fs::createTemporaryFile("record", "so", library);
    {
      std::error_code code;
      llvm::raw_fd_ostream stream(object, code);
      llvm::cantFail(writeObject(*record, stream));
      llvm::raw_fd_ostream second(initial, code);
      llvm::cantFail(writeValuesObject(values, record->getTargetTriple(), second));
    }
    outsideCount = values.size();
    auto written = llvm::MemoryBuffer::getFile(object);
    auto readRecord = LoadedRecord::load(**written);
    if (readRecord)
      inObject = std::move(*readRecord);
    else
      ADD_FAILURE() << llvm::toString(readRecord.takeError());
    std::string command = std::string(DPC_LINKER) + " -shared -o " + library.c_str() + " " +
                          object.c_str() + " " + initial.c_str();
    if (std::system(command.c_str()) == 0) {
      handle = dlopen(library.c_str(), RTLD_NOW);
      if (handle)
        program = static_cast<const dpc_program_t *>(dlsym(handle, "dpc_program"));
    }
    llvm::sys::fs::remove(object);
    llvm::sys::fs::remove(initial);
    llvm::sys::fs::remove(library);
  }
  size_t outsideCount = 0;
  void *handle = nullptr;
  const dpc_program_t *program = nullptr;
  std::unique_ptr<LoadedRecord> inObject;
};

inline const Loaded &loaded() {
  static Loaded once(FunctionForm::hostCode);
  EXPECT_NE(once.program, nullptr);
  return once;
}

inline const dpc_program_t &load() { return *loaded().program; }

} // namespace dpc::test

#endif // DPC_TEST_UNIT_RECORD_LOADEDPROGRAM_H
