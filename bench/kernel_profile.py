#!/usr/bin/env python3
"""Where a training step's time goes, by class of kernel and by kernel.

    bench/kernel_profile.py MODEL.onnx --data=FILE.npz [--steps=N] [dpc-compile options]

Compiles the model (tools from $DPC_BIN, default build/release/bin), runs it under `perf record`
and names each kernel after the ops that the program at level `exec` has for it. The class of a
kernel is that of its heaviest op. Prints user CPU milliseconds a step.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

# The first class that one of a kernel's ops belongs to.
CLASSES = [
    ("convolution", r"nn\.conv(?!ert)"),
    ("attention", r"nn\.attention"),
    ("product", r"nn\.dot"),
    ("loss", r"nn\.cross_entropy"),
    ("softmax", r"nn\.(log_)?softmax"),
    ("norm", r"nn\.(normalize|batch_norm)"),
    ("optimizer", r"nn\.update"),
    ("indexing", r"nn\.(gather|scatter)"),
    ("reduction", r"nn\.(reduce|arg_reduce|max_pool|avg_pool)"),
    ("move", r"nn\.(transpose|slice|concat|pad|reshape)\b"),
    ("elementwise", r"nn\."),
]


def kernels(text):
    """Ops and results of each kernel function in the printed program."""
    found, name = {}, None
    for line in text.splitlines():
        start = re.match(r"\s*func\.func private @([\w.]+)\(", line)
        if start:
            name = start.group(1)
            found[name] = ([], [])
        elif name and "nn." in line:
            op = re.search(r"(nn\.\w+)", line).group(1)
            if op in ("nn.update",) or op not in ("nn.kernel", "nn.yield", "nn.constant"):
                found[name][0].append(op)
            if op == "nn.dot":
                found[name][1].append(line[line.index("nn.dot"):].split(":", 1)[-1].strip())
    return found


def main():
    tools = os.environ.get("DPC_BIN", "build/release/bin")
    own = [a for a in sys.argv[1:] if a.startswith(("--data=", "--steps="))]
    options = dict(a[2:].split("=", 1) for a in own)
    steps = int(options.get("steps", 20))
    arguments = [a for a in sys.argv[1:] if a not in own]
    if not arguments or "data" not in options:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        program, ir, data = (os.path.join(folder, n) for n in ("program", "exec.mlir", "perf.data"))
        compiler = [os.path.join(tools, "dpc-compile")] + arguments
        notes = subprocess.run(compiler + ["--explain=all", "-o", program], check=True,
                               capture_output=True, text=True).stderr
        # Kernels with equal code are one function: it has the name of the first.
        names = {symbol: name for name, symbol in
                 reversed(re.findall(r"note: kernel (\S+) is function (\S+)", notes))}
        subprocess.run(compiler + ["--stop-after=exec", "-o", ir], check=True)
        with open(ir) as file:
            found = kernels(file.read())
        run = [program, "--data=" + options["data"], f"--steps={steps}"]
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", data] + run,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        report = subprocess.run(["perf", "report", "-i", data, "--stdio", "-n", "--percent-limit=0", "-F", "sample,symbol"],
                                check=True, capture_output=True, text=True).stdout
    by_class, rows = collections.Counter(), []
    for line in report.splitlines():
        match = re.match(r"\s*(\d+)\s+\[.\]\s+(\S+)", line)
        if not match:
            continue
        ms = int(match.group(1)) / 4.0 / steps
        symbol = names.get(match.group(2).removesuffix(".body"), match.group(2))
        ops, products = found.get(symbol, ([], []))
        kind = next((c for c, pattern in CLASSES if any(re.match(pattern, op) for op in ops)), "runtime")
        by_class[kind] += ms
        rows.append((ms, symbol, kind, " ".join(dict.fromkeys(op[3:] for op in ops)), "; ".join(products)))
    total = sum(by_class.values())
    print(f"{total:.2f} ms of user CPU time a step over {steps} steps, with start-up")
    for kind, ms in by_class.most_common():
        print(f"  {kind:12} {ms:8.3f} ms  {100 * ms / total:5.1f} %")
    for ms, symbol, kind, ops, products in sorted(rows, reverse=True)[:40]:
        print(f"{ms:8.3f} ms  {symbol:14} {kind:12} {ops[:70]}  {products[:120]}")


if __name__ == "__main__":
    main()
