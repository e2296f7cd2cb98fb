include "llvm/Option/OptParser.td"

def Repeatable : OptionFlag;
def NotYetAvailable : OptionFlag;

class Value<string name, string meta, string help, OptionGroup group = ?>
    : Joined<["--"], name # "=">, MetaVarName<meta>, HelpText<help>, Group<group>;

def training : OptionGroup<"training">, HelpText<"TRAINING">;
def model : OptionGroup<"model">, HelpText<"MODEL">;
def layout : OptionGroup<"layout">, HelpText<"DEVICES AND LAYOUT">;
def output : OptionGroup<"output">, HelpText<"CODE AND REPORTS">;

class Repeated<string name, string meta, string help, OptionGroup group = ?>
    : Value<name, meta, help # " (repeatable)", group>, Flags<[Repeatable]>;

/// An option that is reserved for a later version. The tool refuses it by name, and --help does
/// not list it.
class Planned<string name, string meta, string help>
    : Value<name, meta, help, ?>, Flags<[NotYetAvailable, HelpHidden]>;

def help : Flag<["--"], "help">, HelpText<"Show this help">;
def version : Flag<["--"], "version">, HelpText<"Show the version">;
def o : Separate<["-"], "o">, MetaVarName<"OUT">, HelpText<"The program to write">;

def loss : Value<"loss", "LOSS", "cross-entropy[,axis=K,label-smoothing=X,ignore-index=N], mse, l1 or bce-with-logits of the first output (,of=NAME: of another), or output:NAME, a scalar of the graph (default: none, a program that infers); docs/compiling.md says where classes lie", training>;
def optimizer : Value<"optimizer", "NAME,..", "The optimizer and its options, such as adamw,lr=3e-4; all of them are listed below", training>;
def param_group : Repeated<"param-group", "GLOB,..", "weight-decay=X, lr-scale=X for the parameters of that name; a later one changes what it names", training>;
def clip_grad_norm : Value<"clip-grad-norm", "X", "Scale all gradients down to a norm of X together (default 0: do not)", training>;
def log_grad_norm : Flag<["--"], "log-grad-norm">, HelpText<"Log the norm of all gradients (always with --clip-grad-norm)">, Group<training>;
def metric : Value<"metric", "NAME,..", "What evaluation reports beside the loss: accuracy (a cross-entropy always has it), top-5 or perplexity of a cross-entropy, binary-accuracy of bce-with-logits, output:NAME, the mean of an output", training>;
def lr_schedule : Value<"lr-schedule", "KIND,..", "constant (default), linear or cosine, with warmup=N or warmup=P% of the total (default 0), total=N (default: --steps of the run), min-lr=X (default 0)", training>;
def precision : Value<"precision", "TYPE", "f32 (default); bf16 or f16: f32 with products of 16-bit factors (mixed precision; f16 scales the loss); f64; tf32: f32 whose products and convolutions round their factors to 10 bits (--target=cuda); or tf32x3: f32 whose products use the units of tf32 three times, with almost the precision of f32 (plain f32 without --target=cuda); what a file has in 16 bits trains in f32", training>;
def grad_reduce : Value<"grad-reduce", "TYPE", "The type in which ranks sum gradients: f32 (default, that of the parameters) or bf16", training>;
def microbatches : Value<"microbatches", "M", "Cut each batch into M parts, one after the other (default 1)", training>;
def accumulate : Value<"accumulate", "M", "The same as --microbatches", training>, Alias<microbatches>;
def batch_norm : Value<"batch-norm", "MODE", "global (default) or local statistics", training>;

def shape : Repeated<"shape", "NAME:DxDx..", "Global shape of an input (default: the file's)", model>;
def label_shape : Value<"label-shape", "DxDx..", "Global shape of the labels (default: by the loss and its output)", model>;
def label_type : Value<"label-type", "TYPE", "Element type of the labels, such as i64 or f32 (default: i64 for cross-entropy, else the output's)", model>;
def batch_dim : Repeated<"batch-dim", "NAME:K", "The dimension of an input that counts samples, -1 for none (default: the open one that the file calls batch.., else 0 where its extent is the first input's); label:K for the labels (default: that of the output)", model>;
def params : Value<"params", "WHERE", "embed (default), FILE or none", model>;
def as_exported : Flag<["--"], "as-exported">, HelpText<"Train the graph as the file has it, without restoring what its exporter merged or computed; without --precision also in the file's types of 16 bits">, Group<model>;
def trainable : Repeated<"trainable", "GLOB", "Initializers that train: from none, and in turn with --frozen (default: those that docs/compiling.md says)", model>;
def frozen : Repeated<"frozen", "GLOB", "Initializers that do not train", model>;

def mesh : Value<"mesh", "AXIS=N,..", "Devices as a grid; last axis fastest (default: one device)", layout>;
def batch_axes : Value<"batch-axes", "AXIS,..", "Axes of the mesh that cut the batch (default: data, replica)", layout>;
def devices : Planned<"devices", "N", "Let dpc choose the mesh">;
def shard : Repeated<"shard", "GLOB=AXES,..", "Layout of parameters, buffers, inputs or what nodes make, one entry a dimension: - or AXIS+AXIS.. (default: chosen)", layout>;
def zero : Value<"zero", "S[:AXIS]", "Divide optimizer state (1), gradients (2), parameters (3) over AXIS (default: the batch's); 0: nothing; auto (default): updates, where that pays", layout>;
def zero_keep : Value<"zero-keep", "SIZE", "With --zero=3: SIZE of parameters, such as 2GiB, are gathered once a step, and kept until all have read them", layout>;
def schedule : Value<"schedule", "NAME", "The order in which the stages of --mesh=pipe=P run the microbatches: gpipe, 1f1b (default), interleaved or zero-bubble", layout>;
def chunks : Value<"chunks", "N", "The parts of the model that each stage of --schedule=interleaved (default 2) or zero-bubble (1 or 2, default 1) runs", layout>;
def cut_memory : Value<"cut-memory", "SIZE", "Bytes that no stage should hold more of, as far as the search for the parts of the model can estimate them; parts take equally long within this limit (default: as --device-memory needs)", layout>;
def schedule_memory : Value<"schedule-memory", "SIZE,..", "Bytes that the microbatches of each stage may hold between their pieces, by stage; 0 for no limit (default: as --device-memory needs)", layout>;
def stages : Value<"stages", "GLOB,..", "The first node of each part of the model but the first: a pattern of node names (default: parts that take equally long)", layout>;
def optimizer_sync : Planned<"optimizer-sync", "WHEN", "before or deferred">;
def remat : Value<"remat", "MODE", "What the backward pass computes again: none; full, all that saves memory; SIZE, such as 2GiB, what saves that much in the least time; GLOB,.., what nodes of these names make; auto, as little as --device-memory allows (default); STAGE+STAGE:MODE for some stages of a pipeline alone", layout>;
def device_memory : Value<"device-memory", "SIZE", "Memory of a device, such as 80GiB or 80GB (default: no limit); where a program needs more, state is divided and activations are computed again, as far as --zero, --bucket-mib and --remat leave open", layout>;
def offload : Value<"offload", "WHERE", "Refused: dpc keeps nothing in another memory than the device's", layout>, Flags<[HelpHidden]>;
def bucket_mib : Value<"bucket-mib", "X", "MiB at which a bucket of gradients closes (default 25)", layout>;
def first_bucket_mib : Value<"first-bucket-mib", "X", "The same for the first (default 1)", layout>;
def overlap : Value<"overlap", "on|off", "Hide communication behind compute (default on)", layout>;
def topology : Value<"topology", "FILE", "The machine to plan for: a file in JSON with the rates of a device and the levels of connections between devices, such as topologies/h100-roce.json; docs/topology.md lists its keys; or target, the rough numbers of --target (default: $DPC_TOPOLOGY; else for --target=cpu the file that dpc-run --describe wrote, if there is one; else target)", layout>;
def fail_on_reshard : Value<"fail-on-reshard", "SIZE", "Refuse layouts of which a row of --explain's table of reshards sends more than SIZE, such as 64MiB (default: no limit)", layout>;

def target : Value<"target", "TARGET", "cpu (default), scalar (plain loops, to compare with) or cuda", output>;
def cpu : Value<"cpu", "NAME", "The processor of --target=cpu: native (default), x86-64-v3, x86-64-v4 or x86-64-v4-bf16", output>;
def cuda_arch : Value<"cuda-arch", "NAME,..", "The devices that --target=cuda is for (default sm_80,sm_90): PTX for the oldest, which later ones run too, and machine code for each where ptxas is found", output>;
def ptxas : Value<"ptxas", "PATH|off", "NVIDIA's assembler (default: that of PATH, CUDA_HOME or /usr/local/cuda); off: PTX alone, which drivers compile when a program starts", output>;
def save_kernels : Value<"save-kernels", "FOLDER", "Write the code of each kernel and a list of all launches, launches.jsonl (--target=cuda)", output>;
def cache : Value<"cache", "FOLDER|off", "Where compiled kernels are kept for later compiles (default ~/.cache/dpc/kernels; 1 GiB at most)", output>;
def recompute : Value<"recompute", "on|off", "Repeat short computations instead of storing their results (default on)", output>;
def sums : Value<"sums", "ORDER", "fast (default), or ordered: terms in their order, so that bits do not depend on how ops share kernels", output>;
def products : Value<"products", "WHO", "Who multiplies matrices and convolves for --target=cuda: auto (default: cuBLASLt and cuDNN where they are large), library (wherever they can) or generated (kernels)", output>;
def emit : Value<"emit", "KIND", "exe (default), shared or object", output>;
def tune : Flag<["--"], "tune">, HelpText<"Measure each kernel on this machine for the times of --explain, and keep the times beside the kernels (--target=cpu)">, Group<output>;
def stop_after : Value<"stop-after", "LEVEL", "Print the program at a level: import, step, placed, local, ordered, scheduled, exec (default: none)", output>;
def explain : Flag<["--"], "explain">, HelpText<"A page about the program: what trains, layouts, reshards, communication, memory">, Group<output>;
def explain_eq : Value<"explain", "all", "The page, and every decision line by line", output>;
def verify_plan : Value<"verify-plan", "on|off", "Prove the plan before writing it (default on)", output>;
def schedule_svg : Value<"schedule-svg", "FILE", "Draw the schedule of a pipeline, as SVG", output>;
def slow : Repeated<"slow", "RANK:X", "For the times of --explain and --report: a rank that takes X times as long to compute", output>;
def slow_link : Repeated<"slow-link", "LEVEL:X", "For the same: a level of the topology whose bandwidth is X times as high, such as 0.5", output>;
def report : Value<"report", "FILE", "Write the facts of --explain and the modelled timeline of a step: FILE.html, a page for browsers; FILE.json; or FILE.trace.json for Perfetto", output>;
