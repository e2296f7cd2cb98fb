// The program record as the runtime sees it: a module at level exec is emitted,
// compiled, loaded, and read through the runtime's own headers.
#include "record/EmitProgram.h"
#include "record/WriteObject.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dpc/program.h"
#include "dpc/status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace mlir;
using namespace dpc;

namespace {

const char *const kProgram = R"(
module attributes {
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
  nn.variable @f = dense<[1.0, 2.0]> : tensor<2xf32> {nn.frozen,
      nn.file_tensors = [{name = "val_3", holds = "all", shape = array<i64: 1, 2>, strides = array<i64: 1>, shift = 1.0 : f64},
                         {name = "f", holds = "nothing", shape = array<i64>}]}
  nn.variable @mask = dense<[true, false, false, true]> : tensor<4xi1>
  func.func private @k(%x: tensor<2x3xf64>) -> tensor<f64> attributes {exec.scratch_bytes = 16 : i64} {
    %0 = nn.reduce sum %x [0, 1] : tensor<2x3xf64> -> tensor<f64>
    return %0 : tensor<f64>
  }
  exec.function @step.0 piece 0 of @step {
    %w = exec.get @state.w : memref<2x3xf32>
    %c = exec.buffer arena at 0 : memref<i64>
    exec.microbatch into %c : memref<i64>
    %l = exec.get @metric.loss : memref<f64>
    %n = exec.get @metric.count : memref<f64>
    exec.copy %l to %n : memref<f64>
    %m = exec.get @"state.m|w" : memref<2x3xf32>
    exec.copy %m to %w : memref<2x3xf32>
    %g = exec.buffer shared at 64 : memref<16xf32>
    %s = exec.view %g at 0 stride 8 over ["data"] : memref<16xf32> to memref<2xf32>
    %f = exec.get @state.f : memref<2xf32>
    exec.copy %f to %s : memref<2xf32>
    %x = exec.get @input.x : memref<4x3xf64>
    %p = exec.view %x at 0 stride 48 : memref<4x3xf64> to memref<2x3xf64>
    %t = exec.buffer arena at 320 : memref<16xi8>
    exec.launch @k(%p) into (%l) scratch (%t) : (memref<2x3xf64>), (memref<f64>), (memref<16xi8>)
  }
  exec.entry @step {
    %g = exec.buffer shared at 64 : memref<16xf32>
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
void defineKernel(llvm::Module &record) {
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
};

const Loaded &loaded() {
  static Loaded once(FunctionForm::hostCode);
  EXPECT_NE(once.program, nullptr);
  return once;
}

const dpc_program_t &load() { return *loaded().program; }

TEST(ProgramRecord, Header) {
  const dpc_program_t &program = load();
  EXPECT_EQ(program.struct_size, sizeof(dpc_program_t));
  EXPECT_EQ(program.abi_version, DPC_ABI_VERSION);
  EXPECT_STREQ(program.name, "model");
  EXPECT_EQ(program.batch, 8u);
  EXPECT_EQ(program.microbatches, 2u);
  EXPECT_EQ(program.schedule.kind, uint32_t(DPC_LR_COSINE));
  EXPECT_EQ(program.schedule.learning_rate, 0.5);
  EXPECT_EQ(program.schedule.min_learning_rate, 0.25);
  EXPECT_EQ(program.schedule.warmup, 3u);
  EXPECT_EQ(program.schedule.total, 10u);
}

TEST(ProgramRecord, MeshAndFamilies) {
  const dpc_program_t &program = load();
  ASSERT_EQ(program.axis_count, 2u);
  EXPECT_STREQ(program.axes[0].name, "micro");
  EXPECT_EQ(program.axes[0].sequential, 1u);
  EXPECT_EQ(program.axes[1].size, 2u);
  EXPECT_EQ(program.world_size, 2u);
  ASSERT_EQ(program.family_count, 2u);
  EXPECT_EQ(program.families[0].group_size, 2u);
  EXPECT_STREQ(program.families[1].name, "data");
  EXPECT_EQ(program.families[1].group_count, 1u);
  EXPECT_EQ(program.families[1].ranks[1], 1u);
}

TEST(ProgramRecord, States) {
  const dpc_program_t &program = load();
  ASSERT_EQ(program.state_count, 4u);
  const dpc_state_t &w = program.states[0];
  EXPECT_STREQ(w.name, "w");
  EXPECT_EQ(w.kind, uint32_t(DPC_STATE_PARAMETER));
  EXPECT_EQ(w.changes, 1u); // the step writes it
  EXPECT_EQ(w.dim_count, 2u);
  EXPECT_EQ(w.shape[1], 3);
  EXPECT_EQ(w.init_kind, uint32_t(DPC_INIT_EMBEDDED));
  EXPECT_EQ(static_cast<const float *>(w.init_data)[5], 6.0f);
  EXPECT_EQ(w.placements[1].offset, 64u);
  EXPECT_EQ(w.placements[1].runs[0].length, 6u);
  // A bool is a byte.
  const dpc_state_t &mask = program.states[1];
  EXPECT_EQ(mask.kind, uint32_t(DPC_STATE_CONSTANT));
  EXPECT_EQ(mask.dtype, uint32_t(DPC_BOOL));
  EXPECT_EQ(static_cast<const uint8_t *>(mask.init_data)[3], 1);
  EXPECT_EQ(static_cast<const uint8_t *>(mask.init_data)[1], 0);
  // A frozen parameter is one that nothing changes.
  const dpc_state_t &f = program.states[2];
  EXPECT_EQ(f.kind, uint32_t(DPC_STATE_PARAMETER));
  EXPECT_EQ(f.changes, 0u);
  // Values of its size lie in an object of their own, aligned.
  EXPECT_EQ(loaded().outsideCount, 2u);
  EXPECT_EQ(static_cast<const float *>(f.init_data)[1], 2.0f);
  for (const dpc_state_t *state : {&w, &f})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(state->init_data) % 64, 0u);
  // What stood for it in the ONNX file.
  EXPECT_EQ(w.file_tensor_count, 0u);
  ASSERT_EQ(f.file_tensor_count, 2u);
  EXPECT_STREQ(f.file_tensors[0].name, "val_3");
  EXPECT_EQ(f.file_tensors[0].holds, uint32_t(DPC_HOLDS_ALL));
  EXPECT_EQ(f.file_tensors[0].dim_count, 2u);
  EXPECT_EQ(f.file_tensors[0].shape[1], 2);
  EXPECT_EQ(f.file_tensors[0].strides[0], 1);
  EXPECT_EQ(f.file_tensors[0].shift, 1.0);
  EXPECT_EQ(f.file_tensors[1].holds, uint32_t(DPC_HOLDS_NOTHING));
  // Optimizer state comes last and names its parameter.
  const dpc_state_t &m = program.states[3];
  EXPECT_EQ(m.kind, uint32_t(DPC_STATE_OPTIMIZER));
  EXPECT_EQ(m.parameter, 0u);
  EXPECT_EQ(m.init_kind, uint32_t(DPC_INIT_SPLAT));
  EXPECT_EQ(m.splat, 0.25);
}

TEST(ProgramRecord, InputsAndMetrics) {
  const dpc_program_t &program = load();
  ASSERT_EQ(program.input_count, 1u);
  const dpc_input_t &x = program.inputs[0];
  EXPECT_EQ(x.shape[0], 8); // global
  EXPECT_EQ(x.batch_dim, 0);
  EXPECT_EQ(x.placements[0].runs[0].global, 0u);
  EXPECT_EQ(x.placements[1].runs[0].global, 12u);
  EXPECT_EQ(x.placements[1].elements, 12u);
  ASSERT_EQ(x.bounds_count, 2u);
  EXPECT_EQ(x.bounds[0].count, 2u);
  EXPECT_EQ(x.bounds[0].hi, 4);
  EXPECT_EQ(x.bounds[0].has_ignore, 0u);
  EXPECT_EQ(x.bounds[1].count, 1u);
  EXPECT_EQ(x.bounds[1].lo, -1);
  EXPECT_EQ(x.bounds[1].ignore, -7);
  EXPECT_EQ(x.bounds[1].has_ignore, 1u);
  ASSERT_EQ(program.metric_count, 2u);
  EXPECT_EQ(program.metrics[0].kind, uint32_t(DPC_METRIC_LOSS));
  EXPECT_EQ(program.metrics[0].weight, 1u); // "count"
  EXPECT_EQ(program.metrics[0].offset, 384u);
  EXPECT_EQ(program.metrics[1].entry, 1u << DPC_ENTRY_STEP);
}

TEST(ProgramRecord, Controls) {
  const dpc_program_t &program = load();
  ASSERT_EQ(program.control_count, 2u);
  EXPECT_EQ(program.controls[0].kind, uint32_t(DPC_CONTROL_LEARNING_RATE));
  EXPECT_EQ(program.controls[0].dtype, uint32_t(DPC_F32));
  EXPECT_EQ(program.controls[0].axis, DPC_NONE);
  EXPECT_EQ(program.controls[0].offset, 320u);
  EXPECT_EQ(program.controls[1].kind, uint32_t(DPC_CONTROL_COORDINATE));
  EXPECT_EQ(program.controls[1].dtype, uint32_t(DPC_I64));
  EXPECT_EQ(program.controls[1].axis, 1u);
  EXPECT_EQ(program.controls[1].space, uint32_t(DPC_SPACE_ARENA));
}

TEST(ProgramRecord, Actions) {
  const dpc_program_t &program = load();
  const dpc_rank_t &rank = program.ranks[1];
  EXPECT_EQ(rank.arena_bytes, 512u);
  EXPECT_EQ(rank.shared_bytes, 128u);
  EXPECT_EQ(rank.event_count, 1u);
  ASSERT_EQ(rank.entries[DPC_ENTRY_STEP].count, 5u);
  EXPECT_EQ(rank.entries[DPC_ENTRY_EVAL].count, 0u);
  const dpc_action_t *actions = rank.entries[DPC_ENTRY_STEP].actions;
  EXPECT_EQ(actions[0].kind, uint32_t(DPC_ACTION_LOOP_BEGIN));
  EXPECT_EQ(actions[0].count, 2u);
  EXPECT_EQ(actions[0].jump, 2u);
  EXPECT_EQ(actions[1].kind, uint32_t(DPC_ACTION_COMPUTE));
  EXPECT_EQ(actions[1].flags, uint32_t(DPC_ACTION_MICRO_RELATIVE));
  EXPECT_EQ(actions[2].kind, uint32_t(DPC_ACTION_LOOP_END));
  EXPECT_EQ(actions[2].jump, 0u);
  EXPECT_EQ(actions[3].op, uint32_t(DPC_OP_ALL_REDUCE));
  EXPECT_EQ(actions[3].group, 1u);
  EXPECT_EQ(actions[3].count, 16u);
  EXPECT_EQ(actions[3].buffer_id, 7u);
  EXPECT_EQ(actions[3].in.space, uint32_t(DPC_SPACE_SHARED));
  EXPECT_EQ(actions[3].in.offset, 64u);
  EXPECT_EQ(actions[4].kind, uint32_t(DPC_ACTION_WAIT));
}

// The generated function writes the microbatch's number, copies buffers, finds
// the rank's shard of one by its index in the group, and calls a kernel.
TEST(ProgramRecord, Function) {
  const dpc_program_t &program = load();
  ASSERT_EQ(program.function_count, 1u);
  EXPECT_STREQ(program.functions[0].name, "step.0");
  EXPECT_EQ(program.functions[0].entry, uint32_t(DPC_ENTRY_STEP));
  EXPECT_EQ(program.functions[0].piece, 0u);
  alignas(64) char arena[512] = {}, shared[128] = {};
  auto at = [&](int offset) { return arena + offset; };
  *reinterpret_cast<double *>(at(384)) = 3.5;
  *reinterpret_cast<double *>(at(256 + 48)) = 4;
  reinterpret_cast<float *>(at(128))[5] = 9;
  reinterpret_cast<float *>(at(480))[1] = 7;
  const uint32_t groupIndex[] = {1, 1};
  dpc_call_t call = {};
  call.micro = 1;
  call.base[DPC_SPACE_ARENA] = arena;
  call.base[DPC_SPACE_SHARED] = shared;
  call.group_index = groupIndex;
  EXPECT_EQ(program.functions[0].fn(&call), DPC_OK);
  EXPECT_EQ(*reinterpret_cast<int64_t *>(at(0)), 1);
  EXPECT_EQ(*reinterpret_cast<double *>(at(448)), 3.5);
  EXPECT_EQ(*reinterpret_cast<double *>(at(384)), 8.0); // made of microbatch 1
  EXPECT_EQ(reinterpret_cast<float *>(at(64))[5], 9.0f);
  EXPECT_EQ(reinterpret_cast<float *>(shared + 64)[3], 7.0f);
}

// The same function for a device: a list of launches, whose parameters say what
// the host code's addresses said.
TEST(ProgramRecord, Launches) {
  EXPECT_EQ(load().device, nullptr);
  static const Loaded once(FunctionForm::launchTable);
  ASSERT_NE(once.program, nullptr);
  const dpc_program_t &program = *once.program;
  ASSERT_EQ(program.function_count, 1u);
  EXPECT_EQ(program.functions[0].fn, nullptr);
  EXPECT_STREQ(program.functions[0].name, "step.0");
  ASSERT_NE(program.device, nullptr);
  const dpc_device_program_t &device = *program.device;
  EXPECT_EQ(device.struct_size, sizeof(dpc_device_program_t));
  ASSERT_EQ(device.launch_count, 5u);
  ASSERT_EQ(device.param_count, 10u);
  EXPECT_EQ(device.functions[0].first, 0u);
  EXPECT_EQ(device.functions[0].count, 5u);
  const dpc_launch_t &number = device.launches[0];
  EXPECT_EQ(number.kind, uint32_t(DPC_LAUNCH_FILL));
  EXPECT_EQ(number.kernel, DPC_NONE);
  EXPECT_EQ(number.value, 0);
  EXPECT_EQ(number.micro_step, 1);
  EXPECT_EQ(number.param_count, 1u);
  EXPECT_EQ(device.params[0].bytes, 8u);
  // A state into a rank's shard of a buffer.
  const dpc_launch_t &copy = device.launches[3];
  EXPECT_EQ(copy.kind, uint32_t(DPC_LAUNCH_COPY));
  ASSERT_EQ(copy.first_param, 5u);
  EXPECT_EQ(device.params[5].space, uint32_t(DPC_SPACE_ARENA));
  EXPECT_EQ(device.params[5].offset, 480u);
  EXPECT_EQ(device.params[5].family, DPC_NONE);
  EXPECT_EQ(device.params[6].space, uint32_t(DPC_SPACE_SHARED));
  EXPECT_EQ(device.params[6].offset, 64u);
  EXPECT_EQ(device.params[6].family, 1u);
  EXPECT_EQ(device.params[6].index_stride, 8u);
  EXPECT_EQ(device.params[6].bytes, 8u);
  // A kernel: operands, then results, then scratch; slices move by microbatch.
  const dpc_launch_t &kernel = device.launches[4];
  EXPECT_EQ(kernel.kind, uint32_t(DPC_LAUNCH_KERNEL));
  EXPECT_EQ(kernel.kernel, 0u);
  ASSERT_EQ(kernel.param_count, 3u);
  EXPECT_EQ(device.params[7].offset, 256u);
  EXPECT_EQ(device.params[7].micro_stride, 48u);
  EXPECT_EQ(device.params[8].offset, 384u);
  EXPECT_EQ(device.params[9].bytes, 16u);
  ASSERT_EQ(device.kernel_count, 1u);
  EXPECT_STREQ(device.kernels[0].name, "k");
  double in = 2, out = 0;
  char *buffers[] = {reinterpret_cast<char *>(&in), reinterpret_cast<char *>(&out), nullptr};
  device.kernels[0].code(buffers);
  EXPECT_EQ(out, 4);
}

TEST(ValuesObject, OnlyForElf) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  llvm::Error error = writeValuesObject({}, "arm64-apple-macosx", stream);
  EXPECT_EQ(llvm::toString(std::move(error)), "cannot write an object file for arm64-apple-macosx");
}

} // namespace
