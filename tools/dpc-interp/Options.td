include "llvm/Option/OptParser.td"

def Repeatable : OptionFlag;

class Value<string name, string meta, string help>
    : Joined<["--"], name # "=">, MetaVarName<meta>, HelpText<help>;

def help : Flag<["--"], "help">, HelpText<"Show this help">;
def version : Flag<["--"], "version">, HelpText<"Show the version">;
def data : Value<"data", "FILE.npz", "Arrays named as the inputs and `label`; the first dimension is the sample">;
def steps : Value<"steps", "N", "Training steps to run (default 1)">;
def seed : Value<"seed", "S", "Key of every random number (default 0)">;
def ranks : Value<"ranks", "N", "Devices to run, one thread each (default: the mesh's size)">;
def log : Value<"log", "FILE.jsonl", "One object a step: step and every metric">;
def save_params : Value<"save-params", "FILE.safetensors", "The state after the last step">;
def output : Value<"output", "NAME=FILE.npy", "A result of the last run function, such as an output of @infer (repeatable)">, Flags<[Repeatable]>;
def eval : Flag<["--"], "eval">, HelpText<"Run @eval on the first batch after the last step">;
