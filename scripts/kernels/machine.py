"""Machine code of kernels: resources and instructions, from NVIDIA's ptxas, cuobjdump and nvdisasm."""
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The routines that the assembler calls for 64-bit divisions of integers.
DIVISIONS = re.compile(rb"__cuda_sm\d+_(?:div|rem)_[us]64")


class ToolError(Exception):
    """A tool that is there, but fails."""


def find_tool(name):
    """The path of one of NVIDIA's tools: in PATH, a CUDA toolkit, or what scripts/setup installed; None without it."""
    folders = [os.path.join(os.environ["CUDA_HOME"], "bin")] if os.environ.get("CUDA_HOME") else []
    folders += ["/usr/local/cuda/bin", str(ROOT / ".venv" / "cuda" / "bin")]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(folders))


def run_tool(command):
    # cuobjdump starts nvdisasm, which may lie in another folder.
    folders = [os.environ.get("PATH", "")] + [os.path.dirname(tool) for tool in [find_tool("nvdisasm")] if tool]
    result = subprocess.run(command, capture_output=True, text=True, check=False,
                            env={**os.environ, "PATH": os.pathsep.join(folders)})
    if result.returncode:
        said = (result.stderr.strip() or result.stdout.strip() or "no message").splitlines()[0]
        raise ToolError(f"{os.path.basename(command[0])} fails on {os.path.basename(str(command[-1]))}: {said}")
    return result.stdout


class Resources:
    """Registers, and bytes of the stack and of local memory, of a kernel."""

    def __init__(self, registers, stack, local):
        self.registers, self.stack, self.local = registers, stack, local


def parse_resources(text):
    """{kernel: Resources} from the output of cuobjdump -res-usage."""
    found, name = {}, None
    for line in text.splitlines():
        function = re.search(r"Function (\S+):", line)
        name = function[1] if function else name
        numbers = re.search(r"REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", line)
        if numbers and name:
            found[name] = Resources(*map(int, numbers.groups()))
    return found


def parse_code(text):
    """{kernel: [(address, instruction)]} from the output of cuobjdump -sass."""
    found, name = {}, None
    for line in text.splitlines():
        function = re.search(r"Function : (\S+)", line)
        name = function[1] if function else name
        instruction = re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)
        if instruction and name:
            found.setdefault(name, []).append((int(instruction[1], 16), instruction[2]))
    return found


def opcode_of(instruction):
    words = instruction.split()
    return words[1] if words[0].startswith("@") and len(words) > 1 else words[0]


def find_inner_loops(code):
    """The loops without a loop inside, as lists of instructions. A backward branch ends a loop."""
    position = {address: number for number, (address, _) in enumerate(code)}
    spans = []
    for number, (address, text) in enumerate(code):
        target = re.search(r"\b(0x[0-9a-f]+)\s*$", text)
        if opcode_of(text).startswith("BRA") and target:
            start = position.get(int(target[1], 16))
            # A branch to itself follows the last instruction of every kernel.
            if start is not None and start < number:
                spans.append((start, number))
    inner = [span for span in spans
             if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans)]
    return [[text for _, text in code[start:end + 1]] for start, end in inner]


def find_unrolled(code, opcode):
    """The slices of code without a loop: from the first access to global or shared memory to the last `opcode`."""
    names = [opcode_of(text).split(".")[0] for _, text in code]
    first = next((number for number, name in enumerate(names) if name in ("LDG", "LDGSTS", "STS", "LDS", "LDSM")), 0)
    last = max((number for number, name in enumerate(names) if name == opcode), default=-1)
    return [text for _, text in code[first:last + 1]]


def share_of(code, opcode):
    """(share of `opcode`, instructions) of the innermost loop that has most of it; of unrolled slices if none has it."""
    best = (0, 0)
    bodies = find_inner_loops(code)
    for body in bodies + [find_unrolled(code, opcode)]:
        names = [opcode_of(text) for text in body if opcode_of(text) != "NOP"]
        count = sum(name.split(".")[0] == opcode for name in names)
        if count > best[0] * best[1] and (body in bodies or best[1] == 0):
            best = (count / len(names), len(names))
    return best


class MachineCode:
    """The machine code of the kernels in a folder of --save-kernels, for one architecture.

    Takes the folder's cubins, or assembles the PTX into the folder `work` where they are missing.
    """

    def __init__(self, folder, arch, work):
        self.folder, self.arch, self.work = Path(folder), arch, Path(work)
        self.ptxas, self.cuobjdump = find_tool("ptxas"), find_tool("cuobjdump")
        self.pool = ThreadPoolExecutor(max(1, os.cpu_count() or 1))
        self.cubins = {}

    def find_cubin(self, file):
        """The path of the cubin of a file; None if it is missing and there is no assembler."""
        if file not in self.cubins:
            path = self.folder / f"{file}.{self.arch}.cubin"
            if not path.is_file():
                path = self.assemble(file)
            self.cubins[file] = path
        return self.cubins[file]

    def assemble(self, file):
        if not self.ptxas:
            return None
        path = self.work / f"{file}.{self.arch}.cubin"
        run_tool([self.ptxas, "-arch=" + self.arch, "-o", str(path), str(self.folder / f"{file}.ptx")])
        return path

    def collect(self, kernels, option, parse):
        """{kernel: facts}, which cuobjdump prints with `option`; None if a tool is missing. Kernels are {name: launch}."""
        cubins = list(self.pool.map(self.find_cubin, sorted({launch.file for launch in kernels.values()})))
        if not self.cuobjdump or None in cubins:
            return None
        found = {}
        for facts in self.pool.map(lambda cubin: parse(run_tool([self.cuobjdump, option, str(cubin)])), cubins):
            found.update(facts)
        missing = [kernel for kernel in kernels if kernel not in found]
        if missing:
            raise ToolError(f"cuobjdump {option} prints nothing about {missing[0]}")
        return found

    def find_resources(self, kernels):
        return self.collect(kernels, "-res-usage", parse_resources)

    def find_code(self, kernels):
        return self.collect(kernels, "-sass", parse_code)

    def calls_long_division(self, file):
        cubin = self.find_cubin(file)
        return bool(cubin and DIVISIONS.search(cubin.read_bytes()))
