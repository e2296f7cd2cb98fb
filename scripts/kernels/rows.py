"""The rows of scripts/check-kernels: what each bar asks of the kernels, the measured value, and the worst kernels."""
import math

import ptx
from machine import share_of

MEBIBYTE = 1 << 20
LARGE_LAUNCH = 8 * 10**6  # bytes of a launch whose accesses row 2 judges
SMALL_TENSOR = MEBIBYTE  # row 2 leaves out smaller tensors, which stay in the cache
WIDEST = 16  # bytes of the widest access
MOST_LINES, MOST_WAVEFRONTS = 1.15, 1.1
SHARES = {"FFMA": 0.65, "HMMA": 0.3}


class Row:
    """A bar with what was measured. `passed` is None if there is no bar, or nothing to measure it with."""

    def __init__(self, number, title, bar):
        self.number, self.title, self.bar = number, title, bar
        self.value, self.passed, self.isMeasured = "not measured", None, False
        self.worst = []

    def set(self, value, passed):
        self.value, self.passed, self.isMeasured = value, passed, True
        return self

    def skip(self, reason):
        self.value = "not measured: " + reason
        return self

    def blame(self, launch, text):
        self.worst.append((launch, text))


def is_outside(launch):
    """Whether the launch belongs to no product, attention or convolution."""
    return not launch.product and not launch.is_attention


def percent(count, total):
    return f"{count} of {total} ({100 * count / total:.1f} %)"


def judge_stacks(kernels, machine, _):
    row = Row(1, "spills and stack frames", "0 bytes")
    resources = machine.find_resources(kernels.by_kernel)
    if resources is None:
        return row.skip("ptxas or cuobjdump is missing")
    total = 0
    for name, launch in kernels.by_kernel.items():
        used = resources[name].stack + resources[name].local
        total += used
        if used:
            row.blame(launch, f"{used} bytes")
    row.worst.sort(key=lambda entry: -float(entry[1].split()[0]))
    return row.set(f"{total} bytes in {len(row.worst)} of {len(kernels.by_kernel)} kernels", total == 0)


def is_large(buffer):
    return buffer.role != "scratch" and buffer.bytes >= SMALL_TENSOR


def is_judged(buffer, launch):
    """Whether row 2 is about a buffer. If a launch slices or pads rows, and either are no multiple of 16 bytes, neighbours of one
    tensor are seldom aligned together with those of the other."""
    def is_odd(other):
        return other.run % 16 or not other.run
    resizes = any(name in ("slice", "pad") for name, _ in launch.ops)
    return is_large(buffer) and not is_odd(buffer) and not (resizes and any(
        is_large(other) and is_odd(other) and other.shape[:-1] == buffer.shape[:-1] for other in launch.buffers))


def share_of_thread(widths_by_buffer):
    """The elements of a thread: those that the widest type has in an access of 16 bytes. 0 if no tensor is accessed so."""
    sizes = [buffer.element_bytes for buffer, widths in widths_by_buffer.items() if widths == [WIDEST]]
    return WIDEST // max(sizes) if sizes else 0


def judge_widths(kernels, _machine, _):
    row = Row(2, "parameters of large launches that are accessed in 16 bytes", "100 %")
    entries, wide = 0, 0
    largest = {}
    for launch in kernels.launches:
        if launch.kind == "kernel" and is_outside(launch) and launch.bytes > LARGE_LAUNCH:
            known = largest.get(launch.kernel)
            largest[launch.kernel] = launch if known is None or launch.bytes > known.bytes else known
    for launch in largest.values():
        accesses = ptx.find_accesses(kernels.entries[launch.kernel])
        large = {}
        for buffer in filter(is_large, launch.buffers):
            kinds = accesses.get(buffer.number)
            large[buffer] = sorted(set(kinds["loads"] + kinds["stores"])) if kinds else []
        share = share_of_thread(large)
        for buffer, widths in large.items():
            if not is_judged(buffer, launch):
                continue
            entries += 1
            # Loops of a launch may have different shares: those over 16-bit tensors alone read 16 bytes.
            if widths and set(widths) <= {WIDEST, share * buffer.element_bytes}:
                wide += 1
                continue
            seen = "in " + ", ".join(map(str, widths)) + " bytes" if widths else "by no access that was found"
            shape = "x".join(map(str, buffer.shape))
            row.blame(launch, f"parameter {buffer.number}, {buffer.role} {shape} {buffer.type}: {seen}")
    row.worst.sort(key=lambda entry: -entry[0].bytes)
    if not entries:
        return row.set("none in this program", None)
    return row.set(percent(wide, entries), wide == entries)


def judge_ratio(row, kernels, counts, field, most):
    if counts is None:
        return row.skip("needs --counts")
    worst = 0
    for name, sums in counts.by_kernel.items():
        least = sums["least_" + field]
        if not least or name not in kernels.by_kernel:
            continue
        ratio = sums[field] / least
        worst = max(worst, ratio)
        if ratio > most:
            row.blame(kernels.by_kernel[name], f"{ratio:.2f}")
    if not worst:
        return row.skip(f"the counts have no {field} of these kernels")
    row.worst.sort(key=lambda entry: -float(entry[1]))
    return row.set(f"{worst:.2f} at most", worst <= most)


def judge_lines(kernels, _machine, options):
    return judge_ratio(Row(3, "lines of 128 bytes that warps touch, over the fewest", f"<= {MOST_LINES}"),
                       kernels, options.counts, "lines", MOST_LINES)


def judge_wavefronts(kernels, _machine, options):
    return judge_ratio(Row(4, "wavefronts in shared memory, over the fewest", f"<= {MOST_WAVEFRONTS}"),
                       kernels, options.counts, "wavefronts", MOST_WAVEFRONTS)


def bytes_of(launch, counts):
    """Bytes that a launch moves: those of its buffers, or of the parts that it touches if they were counted."""
    distinct = counts.distinct.get(launch.kernel) if counts else None
    return min(distinct, launch.bytes) if distinct else launch.bytes


def judge_bytes(kernels, _machine, options):
    most = options.bytes
    row = Row(5, "bytes per step outside products, attention, convolutions", f"<= {most / 1e9:g} GB" if most else "-")
    outside, by_kernel, total = 0, {}, 0
    for launch in kernels.step():
        moved = bytes_of(launch, options.counts)
        total += moved
        if not is_outside(launch):
            continue
        outside += moved
        sums = by_kernel.setdefault(launch.kernel or launch.kind, [launch, 0, 0])
        sums[1] += moved
        sums[2] += 1
    for launch, moved, times in sorted(by_kernel.values(), key=lambda sums: -sums[1]):
        row.blame(launch, f"{moved / 1e9:.2f} GB in {times} launches")
    return row.set(f"{outside / 1e9:.2f} GB (with them {total / 1e9:.2f} GB)", outside <= most if most else None)


def judge_work(kernels, machine, options):
    most = options.launches
    bar = (f"<= {most} launches, " if most else "") + "0 divisions"
    row = Row(6, "launches per step, and divisions of 64-bit integers", bar)
    launches = len(kernels.step())
    files = set()
    for name, launch in kernels.by_kernel.items():
        divisions = ptx.count_long_divisions(kernels.entries[name])
        if divisions:
            files.add(launch.file)
            row.blame(launch, f"{divisions} divisions")
    for launch in kernels.by_kernel.values():
        if launch.file not in files and machine.calls_long_division(launch.file):
            row.blame(launch, "calls a routine that divides")
        files.add(launch.file)
    return row.set(f"{launches} launches, {len(row.worst)} kernels with divisions",
                   not row.worst and (not most or launches <= most))


def most_registers(threads):
    return 168 if threads <= 128 else 128 if threads <= 256 else 65536 // threads


def judge_matrix_units(kernels, machine, _):
    row = Row(7, "products, attention, convolutions in tf32 and 16 bits: mma, ldmatrix, 2 groups of cp.async, registers",
              "all")
    narrow = {name: launch for name, launch in kernels.by_kernel.items() if launch.is_narrow}
    if not narrow:
        return row.set("none in this program", None)
    resources = machine.find_resources(narrow)
    if resources is None:
        return row.skip("ptxas or cuobjdump is missing")
    good = 0
    for name, launch in narrow.items():
        use = ptx.MatrixUse(kernels.entries[name])
        # Split factors need the registers of two blocks.
        most = 255 if launch.factors == "tf32x3" else most_registers(launch.threads)
        lacks = [] if use.uses_mma else ["no mma"]
        # ldmatrix transposes only 16-bit elements, so lanes load vectors of factors of f32 whose depth is outside.
        if not use.uses_ldmatrix and not (launch.multiplies[1] == "f32" and use.loads_vectors):
            lacks.append("no ldmatrix")
        if not use.copies:
            lacks.append("no cp.async")
        elif use.groups < 1:
            lacks.append("waits for all groups of cp.async")
        if resources[name].registers > most:
            lacks.append(f"{resources[name].registers} registers x {launch.threads} threads")
        good += not lacks
        if lacks:
            row.blame(launch, ", ".join(lacks))
    return row.set(percent(good, len(narrow)), good == len(narrow))


def judge_shares(kernels, machine, _):
    row = Row(8, "share of FFMA (f32), HMMA (tf32, 16 bits) in the inner loop of products and convolutions",
              ">= 65 %, >= 30 %")
    judged = {name: launch for name, launch in kernels.by_kernel.items()
              if launch.multiplies and not launch.multiplies[0].startswith("attention") and
              (launch.is_narrow or launch.multiplies[1] == "f32")}
    if not judged:
        return row.set("none in this program", None)
    code = machine.find_code(judged)
    if code is None:
        return row.skip("cuobjdump or nvdisasm is missing")
    least = {}
    good = 0
    for name, launch in judged.items():
        opcode = "HMMA" if launch.is_narrow else "FFMA"
        share, length = share_of(code[name], opcode)
        least[opcode] = min(least.get(opcode, 1), share)
        good += share >= SHARES[opcode]
        if share < SHARES[opcode]:
            row.blame(launch, f"{100 * share:.1f} % {opcode} of {length} instructions")
    row.worst.sort(key=lambda entry: float(entry[1].split()[0]))
    text = ", ".join(f"{100 * share:.1f} % {opcode} at least" for opcode, share in sorted(least.items()))
    return row.set(f"{percent(good, len(judged))}; {text}", good == len(judged))


def most_scratch(launches):
    """The bytes of scratch memory that an attention may have: a copy of its largest operand in f32. Scores have more, unless
    rows are hardly longer than the operand is wide. The order of an operand's dimensions does not count."""
    return 4 * max((math.prod(buffer.shape) for launch in launches for buffer in launch.buffers if buffer.role == "operand"),
                   default=0)


def judge_scores(kernels, _machine, _):
    row = Row(9, "scratch memory of attention for queries x keys elements", "none")
    by_file = {}
    for launch in kernels.by_kernel.values():
        if launch.is_attention:
            by_file.setdefault(launch.file, []).append(launch)
    if not by_file:
        return row.set("no attention in this program", None)
    for launches in by_file.values():
        allowed = most_scratch(launches)
        scratch = [(buffer.bytes, launch) for launch in launches for buffer in launch.buffers
                   if buffer.role == "scratch"]
        most, launch = max(scratch, key=lambda pair: pair[0], default=(0, None))
        if most > allowed:
            row.blame(launch, f"{most} bytes of scratch memory, where operands in f32 have {allowed}")
    return row.set(f"{len(row.worst)} of {len(by_file)} kernels", not row.worst)


ROWS = [judge_stacks, judge_widths, judge_lines, judge_wavefronts, judge_bytes, judge_work, judge_matrix_units,
        judge_shares, judge_scores]
