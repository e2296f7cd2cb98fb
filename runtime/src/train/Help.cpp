// The texts of --help and --version of a compiled program. The text of --help differs
// between training and inference programs.

#include "dpc/comm.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Version.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/train/Options.h"

#include <algorithm>

namespace dpc {

namespace {

const char *const kTraining = R"(

Data
  --data=FILE.npz            arrays named as the inputs, and `label`; the first dimension is the sample
  --data=NAME=FILE.npy       one array; repeat for each input
  --data=idx:IMAGES,LABELS[,scale=1/255][,mean=M][,std=S]     MNIST's format, gzip-compressed or not
  --data=tokens:FILE[,dtype=uint16][,length=T]                headerless token ids
                             several --data, or a pattern (part-*.npz): the samples of one after those of the other
  --no-shuffle               take samples in file order (default: shuffled by the seed, anew each epoch)
  --eval-data=...            held-out data, same forms; evaluated at the end
  --eval-every=N             and every N steps
  --evaluate                 evaluate --eval-data and do nothing else, with --checkpoint and --resume, or --init-params

Training
  --steps=N                  train to step N, counted from the start of training
  --epochs=N                 or N times through the data (default: once)
  --lr=X                     learning rate in place of the compiled one; schedule and groups scale with it
  --seed=S                   shuffle and random numbers (default 0)
  --init-params=FILE[,..]    start from a safetensors file, an index or folder of shards, or a checkpoint; see below
  --nan=stop|warn            what a loss that is not finite does (default stop: exit 4); f16 skips the step
  --check-state=N            compare replicated state between ranks every N steps
  --check-gradients          look at all gradients in each step, and name one that is not finite: rank, parameter and bucket

Results
  --log=FILE.jsonl           one object a step: step, loss, seconds, samples_per_second, learning_rate, epoch, time, eval_loss
  --checkpoint=DIR           write checkpoints: at the end, at Ctrl-C or SIGTERM, and
  --checkpoint-every=N       every N steps; the three newest of this run stay
  --resume[=OTHER]           go on from the newest checkpoint in DIR; while it has none, from that in OTHER; not needed when
                             dpc-run, torchrun or Slurm starts the run again
  --save-params=FILE[,..]    the module's state_dict as safetensors, at the end; see below
  --save-onnx=FILE           the model with its trained parameters
  --best=METRIC              write these two, and DIR/best, at each evaluation that is the best so far, not at the end: loss,
                             accuracy, .., or output:NAME[,max]; what dpc-compile --metric names is there
  --patience=N               stop after N evaluations without a better one; needs --best
  --trace=FILE.json          what ran when, for ui.perfetto.dev; one file a rank
)";

const char *const kInference = R"(

Data
  --input=NAME=FILE.npy      one for each input; the first dimension is the sample, of which there may be any number
  --output=NAME=FILE.npy     outputs to keep
  --init-params=FILE[,..]    compute with the parameters of a safetensors file; see below

Results
  --save-params=FILE[,..]    the module's state_dict as safetensors; see below
  --save-onnx=FILE           the model with its present parameters
  --trace=FILE.json          what ran when, for ui.perfetto.dev; one file a rank
)";

const char *const kCuda = R"(
On a CUDA device
  --cuda-graph=on|off        off: each launch by itself, not a whole step as one graph (default on, but with --trace
                             and --profile off)
  --run-ahead=on|off         off: a step begins when the metrics of the one before it are known (default on, but with
                             --cuda-graph=off, and when tensors move through the hosts)
  --tune=FILE                make each product of matrices in the way that FILE says is fastest; what it lacks is measured
                             first, and added to it
  --profile=FILE.jsonl       the device's time for each launch of a step, which the device then receives separately; one file
                             a rank
)";

const char *const kBoth = R"(
Parameters from a file: --init-params=FILE[,only=GLOB][,except=GLOB][,strip=PREFIX][,add=PREFIX][,partial]
  only=GLOB, except=GLOB     the parameters and buffers that are loaded; each may be given several times
  strip=PREFIX, add=PREFIX   what the file's names begin with and the program's do not (module.), or the other way round
  partial                    what the file lacks stays as it is (otherwise an error)

Parameters to a file: --save-params=FILE[,only=GLOB][,except=GLOB][,strip=PREFIX][,add=PREFIX]
  only=GLOB, except=GLOB     the names of the program that are written; each may be given several times
  strip=PREFIX, add=PREFIX   what names lose at their beginning, and get there

Ranks
)";

const char *const kRanks =
    R"(  --timeout=SECONDS          longest wait for another rank (default 300)
  --frozen=SECONDS           a rank that does not answer for so long is frozen, and ends the run (default 10, or half of a shorter
                             --timeout)
  --print-ranks              print how many ranks the program needs, and nothing else
  --check[=SECONDS]          check whether a run could start, measure each pair of ranks, and do nothing else; the ranks wait
                             SECONDS for each other (default 3)
  --postmortem=DIR           keep the last operations of each rank in DIR, for dpc-run --read-postmortem
  --verify                   prove the plan of all ranks, and do nothing else
  --version                  print the version, and how the program was compiled

)";

void addTensor(std::string &text, bool isFirst, const char *name, uint32_t dtype,
               const int64_t *shape, uint32_t dimCount) {
  text += std::string(isFirst ? " " : ", ") + name + " " + dpc_dtype_name(dtype);
  text += "[";
  for (uint32_t d = 0; d < dimCount; ++d)
    text += (d ? "," : "") + std::to_string(shape[d]);
  text += "]";
}

/// Removes the lines of `option` from the help text, because this program does not have
/// the option.
void hide(std::string &text, const std::string &option) {
  for (size_t at = 0; (at = text.find("\n  " + option)) != std::string::npos;)
    text.erase(at, text.find('\n', at + 1) - at);
}

bool hasSamplesOf(const dpc_program_t &program, bool integers) {
  return std::any_of(program.inputs, program.inputs + program.input_count,
                     [&](const dpc_input_t &input) {
                       return input.role == DPC_INPUT_GRAPH && input.batch_dim >= 0 &&
                              (input.dtype >= DPC_I64 && input.dtype <= DPC_BOOL) == integers;
                     });
}

} // namespace

std::string helpText(const char *executable, const dpc_program_t &program) {
  const bool trains = program.ranks[0].entries[DPC_ENTRY_STEP].count != 0;
  std::string text = std::string("usage: ") + executable +
                     (trains ? " --data=... [options]"
                             : " --input=NAME=FILE.npy.. --output=NAME=FILE.npy.. [options]") +
                     "        (several ranks: dpc-run " + executable + " ...)\n\n" + program.name +
                     ", batch " + std::to_string(program.batch) + ", " +
                     countOf(program.world_size, "rank") + "\ninputs:";
  for (uint32_t i = 0; i < program.input_count; ++i)
    addTensor(text, i == 0, program.inputs[i].name, program.inputs[i].dtype,
              program.inputs[i].shape, program.inputs[i].dim_count);
  if (program.output_count)
    text += "\noutputs:";
  for (uint32_t i = 0; i < program.output_count; ++i)
    addTensor(text, i == 0, program.outputs[i].name, program.outputs[i].dtype,
              program.outputs[i].shape, program.outputs[i].dim_count);
  text += trains ? kTraining : kInference;
  const bool isOnCuda = runsOnCuda(program);
  text += isOnCuda ? std::string(kCuda) + kBoth : kBoth;
  if (!hasSamplesOf(program, true))
    hide(text, "--data=tokens:");
  if (!hasSamplesOf(program, false))
    hide(text, "--data=idx:");
  if (!program.onnx_template)
    hide(text, "--save-onnx=");
  auto addTransport = [&](const std::string &name, const std::string &summary) {
    std::string option = "  --comm=" + name;
    option.resize(std::max<size_t>(option.size() + 2, 29), ' ');
    text += option + summary + "\n";
  };
  if (isOnCuda)
    addTransport(dpc_session::kNccl, "default: NCCL, with a device for each rank");
  for (uint32_t i = 0; const dpc_transport_t *way = dpc_transport_at(i); ++i)
    addTransport(std::string(way->name) + way->settings,
                 isOnCuda ? std::string("through the hosts: ") + way->summary
                          : (i ? "" : "default: ") + std::string(way->summary));
  text += kRanks;
  return text + (trains ? "Exit codes: 0 done, 1 input or request wrong, 2 "
                          "usage, 3 a peer failed, 4 loss not finite, 5 "
                          "input/output, 130 interrupted\n"
                        : "Exit codes: 0 done, 1 input or request wrong, 2 "
                          "usage, 3 a peer failed, 5 input/output, 130 "
                          "interrupted\n");
}

std::string versionText(const dpc_program_t &program) {
  return std::string(program.name) + ", a program of " + runtimeVersion() + "\n" + program.command +
         "\n";
}

} // namespace dpc
