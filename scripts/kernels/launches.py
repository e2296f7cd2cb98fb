"""Reads the files of dpc-compile --save-kernels, and the counts of the emulated device."""
import json
import math
import re
from pathlib import Path

import ptx

PRODUCT = re.compile(r"(dot|conv(_\w+_grad)?|attention(_grad)?)(\.parts)?")


class InputError(Exception):
    """A file that is missing or no file of its kind; the message is one line."""


class Buffer:
    """A buffer of a launch, and its position among the launch's parameters."""

    def __init__(self, number, fields):
        self.number = number
        self.role, self.type, self.shape = fields["role"], fields["type"], fields["shape"]
        self.bytes, self.run, self.written = fields["bytes"], fields["run"], fields["written"]

    @property
    def element_bytes(self):
        return self.bytes // max(1, math.prod(self.shape))


class Launch:
    """A line of launches.jsonl."""

    def __init__(self, fields):
        self.entry, self.function, self.number = fields["entry"], fields["function"], fields["number"]
        self.kind, self.nodes = fields["kind"], fields["nodes"]
        self.buffers = [Buffer(number, buffer) for number, buffer in enumerate(fields["buffers"])]
        self.kernel, self.file = fields.get("kernel"), fields.get("file")
        self.ops = [(op["name"], op["type"]) for op in fields.get("ops", ())]
        self.kernel_ops = fields.get("kernelOps", [])
        self.factors = fields.get("factors", "f32")
        self.blocks, self.threads = fields.get("blocks", 0), fields.get("threads", 0)

    @property
    def bytes(self):
        return sum(buffer.bytes for buffer in self.buffers)

    @property
    def product(self):
        """(op, type of its factors) if the launch belongs to a product, an attention or a convolution; else None."""
        return next(((name, kind) for name, kind in self.ops if PRODUCT.fullmatch(name)), None)

    @property
    def is_attention(self):
        """Whether the kernel computes an attention, as one op or as the ops that it was decomposed into."""
        return any(name.startswith("attention") for name in self.kernel_ops)

    @property
    def multiplies(self):
        """The same for launches that multiply; None for those that only add the parts of a product."""
        found = self.product
        return None if found is None or found[0].endswith(".parts") else found

    @property
    def is_narrow(self):
        """Whether matrix units multiply the factors: numbers of 16 bits, or of f32 in tf32 or tf32x3."""
        found = self.multiplies
        return found is not None and (found[1] in ("bf16", "f16") or (found[1] == "f32" and self.factors != "f32"))

    def name(self):
        """The kernel and its ONNX nodes, for people."""
        nodes = ", ".join(self.nodes[:3]) + (f" and {len(self.nodes) - 3} more" if len(self.nodes) > 3 else "")
        return f"{self.kernel or self.kind} ({nodes})" if nodes else self.kernel or self.kind


class Kernels:
    """The launches of a program, and the kernels that they run."""

    def __init__(self, folder):
        self.folder = Path(folder)
        path = self.folder / "launches.jsonl"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from error
        self.launches = []
        for number, line in enumerate(lines, 1):
            try:
                self.launches.append(Launch(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}: line {number} is no launch ({error})") from error
        if not self.launches:
            raise InputError(f"{path}: has no launches")
        self.by_kernel = {}
        for launch in self.launches:
            if launch.kernel:
                self.by_kernel.setdefault(launch.kernel, launch)
        self.entries = {}
        for file in self.files():
            path = self.folder / f"{file}.ptx"
            try:
                self.entries.update(ptx.parse(path.read_text(encoding="utf-8")))
            except OSError as error:
                raise InputError(f"{path}: {error.strerror}") from error
        missing = [kernel for kernel in self.by_kernel if kernel not in self.entries]
        if missing:
            raise InputError(f"{self.folder}: no PTX has the kernel {missing[0]}")

    def files(self):
        return sorted({launch.file for launch in self.launches if launch.file})

    def step(self):
        """The launches of the program's main entry: step, or the first one of a program that does not train."""
        names = [launch.entry for launch in self.launches]
        entry = "step" if "step" in names else names[0]
        return [launch for launch in self.launches if launch.entry == entry]


class Counts:
    """What the emulated device counted (DPC_EMU_COUNT), summed over the launches of each kernel."""

    FIELDS = "lines", "least_lines", "wavefronts", "least_wavefronts"

    def __init__(self, path):
        self.by_kernel = {}
        self.distinct = {}
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from error
        for line in text.splitlines():
            if line.startswith("launch "):
                self.add(line[len("launch "):])
        if not self.by_kernel:
            raise InputError(f"{path}: has no lines `launch {{..}}`")

    def add(self, text):
        try:
            fields = json.loads(text)
        except ValueError:
            return  # the last line of a process that was killed
        kernel = fields.get("kernel") if isinstance(fields, dict) else None
        if not kernel:
            return
        sums = self.by_kernel.setdefault(kernel, dict.fromkeys(self.FIELDS, 0))
        for field in self.FIELDS:
            if isinstance(fields.get(field), (int, float)):
                sums[field] += fields[field]
        # Bytes that a launch touches, if all its blocks were counted.
        distinct = fields.get("distinct")
        if isinstance(distinct, (int, float)) and fields.get("counted") == fields.get("blocks"):
            self.distinct[kernel] = max(self.distinct.get(kernel, 0), distinct)
