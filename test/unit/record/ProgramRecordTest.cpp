// The program record as the runtime sees it: a module at level exec is emitted,
// compiled, loaded, and read through the runtime's own headers.
#include "test/unit/record/LoadedProgram.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dpc/status.h"
#include "record/Mesh.h"

#include "mlir/Parser/Parser.h"

using namespace dpc;
using namespace dpc::test;

namespace {

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

TEST(ProgramRecord, Machine) {
  const dpc_program_t &program = load();
  EXPECT_STREQ(program.machine, "two hosts");
  ASSERT_EQ(program.level_count, 2u);
  EXPECT_STREQ(program.levels[0].name, "host");
  EXPECT_EQ(program.levels[0].size, 4u);
  EXPECT_STREQ(program.levels[1].name, "net");
  EXPECT_EQ(program.levels[1].size, 0u); // any number
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

// The family of all ranks is called "world", as a mesh axis may be.
TEST(ProgramMesh, AxisCalledWorld) {
  mlir::MLIRContext context;
  context.loadDialect<dist::DistDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "dist.mesh @mesh axes [\"world\", \"model\"] sizes [2, 2]", &context);
  ASSERT_TRUE(module);
  ProgramMesh mesh(*module);
  EXPECT_EQ(mesh.getGroupSize(0), 4u);
  const uint32_t family = mesh.getFamily(std::vector<std::string>{"world"});
  EXPECT_EQ(family, 1u);
  EXPECT_EQ(mesh.getGroupSize(family), 2u);
  EXPECT_EQ(mesh.getFamily(std::vector<std::string>{"world"}), family);
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
  // The module's state_dict lacks what is marked.
  EXPECT_EQ(mask.unsaved, 1u);
  EXPECT_EQ(w.unsaved, 0u);
  // Rows that are not in the module's order.
  EXPECT_EQ(program.states[2].reordered, 1u);
  EXPECT_EQ(w.reordered, 0u);
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
  EXPECT_EQ(program.metrics[0].places[0].offset, 384u);
  EXPECT_EQ(program.metrics[0].holders[DPC_ENTRY_STEP], DPC_NONE);
  EXPECT_EQ(program.metrics[1].entry, 1u << DPC_ENTRY_STEP);
}

TEST(ProgramRecord, Controls) {
  const dpc_program_t &program = load();
  ASSERT_EQ(program.control_count, 2u);
  EXPECT_EQ(program.controls[0].kind, uint32_t(DPC_CONTROL_LEARNING_RATE));
  EXPECT_EQ(program.controls[0].dtype, uint32_t(DPC_F32));
  EXPECT_EQ(program.controls[0].axis, DPC_NONE);
  EXPECT_EQ(program.controls[0].places[1].offset, 320u);
  EXPECT_EQ(program.controls[1].kind, uint32_t(DPC_CONTROL_COORDINATE));
  EXPECT_EQ(program.controls[1].dtype, uint32_t(DPC_I64));
  EXPECT_EQ(program.controls[1].axis, 1u);
  EXPECT_EQ(program.controls[1].places[0].space, uint32_t(DPC_SPACE_ARENA));
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

// Persistent buffers, then those of entries and functions by their number, each
// once; actions name them.
TEST(ProgramRecord, Buffers) {
  const dpc_program_t &program = load();
  const dpc_rank_t &rank = program.ranks[0];
  ASSERT_EQ(rank.buffer_count, 9u + 3u);
  EXPECT_EQ(rank.buffers, program.ranks[1].buffers);
  EXPECT_STREQ(rank.buffers[0].name, "state.w");
  EXPECT_EQ(rank.buffers[0].kind, uint32_t(DPC_BUFFER_FILLED));
  EXPECT_EQ(rank.buffers[0].offset, 64u);
  EXPECT_EQ(rank.buffers[0].bytes, 24u);
  EXPECT_STREQ(rank.buffers[7].name, "metric.loss");
  EXPECT_EQ(rank.buffers[7].kind, uint32_t(DPC_BUFFER_RESULT));
  const dpc_logical_buffer_t &sum = rank.buffers[9];
  EXPECT_EQ(sum.kind, uint32_t(DPC_BUFFER_TEMPORARY));
  EXPECT_EQ(sum.space, uint32_t(DPC_SPACE_SHARED));
  EXPECT_EQ(sum.offset, 64u);
  EXPECT_EQ(sum.bytes, 64u);
  const dpc_action_t &start = rank.entries[DPC_ENTRY_STEP].actions[3];
  EXPECT_EQ(start.in.buffer, 9u);
  EXPECT_EQ(start.out.buffer, 9u);
}

// What the function reads and writes, launch by launch, for host code and lists
// of launches alike.
TEST(ProgramRecord, Accesses) {
  static const Loaded launches(FunctionForm::launchTable);
  ASSERT_NE(launches.program, nullptr);
  for (const dpc_program_t *program : {&load(), launches.program}) {
    const dpc_function_t &function = program->functions[0];
    EXPECT_EQ(function.runs, 2u);
    ASSERT_EQ(function.access_count, 10u);
    const dpc_access_t &number = function.accesses[0];
    EXPECT_EQ(number.kind, uint32_t(DPC_ACCESS_WRITE));
    EXPECT_EQ(number.buffer, 10u);
    EXPECT_EQ(number.bytes, 8u);
    EXPECT_EQ(number.launch, 0u);
    // A state into a rank's shard of the sum.
    const dpc_access_t &from = function.accesses[5], &to = function.accesses[6];
    EXPECT_EQ(from.kind, uint32_t(DPC_ACCESS_READ));
    EXPECT_EQ(from.buffer, 3u);
    EXPECT_EQ(from.family, DPC_NONE);
    EXPECT_EQ(to.kind, uint32_t(DPC_ACCESS_WRITE));
    EXPECT_EQ(to.buffer, 9u);
    EXPECT_EQ(to.family, 1u);
    EXPECT_EQ(to.index_stride, 8u);
    EXPECT_EQ(to.launch, 3u);
    // A kernel: its operand moves by microbatch.
    const dpc_access_t *kernel = function.accesses + 7;
    EXPECT_EQ(kernel[0].kind, uint32_t(DPC_ACCESS_READ));
    EXPECT_EQ(kernel[0].buffer, 4u);
    EXPECT_EQ(kernel[0].offset, 256u);
    EXPECT_EQ(kernel[0].bytes, 48u);
    EXPECT_EQ(kernel[0].micro_stride, 48u);
    EXPECT_EQ(kernel[1].kind, uint32_t(DPC_ACCESS_WRITE));
    EXPECT_EQ(kernel[2].kind, uint32_t(DPC_ACCESS_SCRATCH));
    EXPECT_EQ(kernel[2].buffer, 11u);
    EXPECT_EQ(kernel[2].launch, 4u);
  }
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
