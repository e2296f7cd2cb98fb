"""Reads PTX: which parameter each access to global memory belongs to, divisions, and instructions of matrix units.

The dataflow ignores the order of instructions: a register has the union of what all its definitions give it. So values
that merge after a branch, and loops, need no further rules.
"""
import re

BYTES = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4,
         "f32": 4, "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16}
# Instructions through which an address stays an address into the same buffer.
MOVES = {"add", "sub", "mov", "cvta", "selp", "or", "and", "xor", "mad", "min", "max", "cvt"}
REGISTER = re.compile(r"%[A-Za-z_][\w$]*")


class Instruction:
    """An instruction: its opcode, split at dots, and its operands as texts."""

    def __init__(self, opcode, operands):
        self.opcode = opcode
        self.words = opcode.split(".")
        self.operands = operands

    @property
    def name(self):
        return self.words[0]

    def is_store(self):
        return self.name in ("st", "red")

    def result_registers(self):
        if not self.operands or self.is_store() or self.name in ("bra", "bar", "barrier", "ret", "cp"):
            return []
        return REGISTER.findall(self.operands[0])


class Entry:
    """A kernel: the names of its parameters, its largest block, its instructions."""

    def __init__(self, name, parameters, threads):
        self.name = name
        self.parameters = parameters
        self.threads = threads
        self.instructions = []


def split_operands(text):
    """The operands of an instruction; commas in brackets and braces do not separate them."""
    operands, depth, current = [], 0, ""
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0:
            operands.append(current.strip())
            current = ""
        else:
            current += character
    if current.strip():
        operands.append(current.strip())
    return operands


def parse_instruction(text):
    text = re.sub(r"^@!?%[\w$]+\s+", "", text.strip())
    match = re.match(r"([a-z][\w.:]*)\s*(.*)", text, re.S)
    if not match or text.startswith("."):
        return None
    return Instruction(match[1], split_operands(match[2]))


def parse(text):
    """The kernels in the text of a PTX file, by name."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    entries = {}
    for match in re.finditer(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)([^{]*)\{", text):
        bound = re.search(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", match[3])
        threads = 1
        for factor in bound.groups() if bound else ():
            threads *= int(factor or 1)
        parameters = re.findall(r"([\w$]+)\s*(?:\[\d+\])?\s*(?:,|$)", match[2].strip())
        entry = Entry(match[1], parameters, threads if bound else None)
        body = body_after(text, match.end())
        # A brace that opens or closes a scope stands alone; braces of vectors stay inside operands.
        body = re.sub(r"(^|;)\s*[{}]", r"\1", body, flags=re.M)
        for statement in body.split(";"):
            statement = re.sub(r"^\s*(?:[$\w]+:\s*)+", "", statement.strip())
            instruction = parse_instruction(statement)
            if instruction:
                entry.instructions.append(instruction)
        entries[entry.name] = entry
    return entries


def body_after(text, start):
    depth, at = 1, start
    while depth and at < len(text):
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    return text[start:at - 1]


def find_pointers(entry):
    """For each register, the numbers of the parameters that it may point into."""
    pointers = {}

    def sources_of(instruction):
        if instruction.words[:2] == ["ld", "param"]:
            name = re.match(r"\[\s*([\w$]+)", instruction.operands[1])
            return {entry.parameters.index(name[1])} if name and name[1] in entry.parameters else set()
        if instruction.name not in MOVES:
            return set()
        # The first two operands of a mad are factors.
        operands = instruction.operands[-1:] if instruction.name == "mad" else instruction.operands[1:]
        return set().union(*(pointers.get(register, set()) for operand in operands
                             for register in REGISTER.findall(operand)))

    changed = True
    while changed:
        changed = False
        for instruction in entry.instructions:
            sources = sources_of(instruction)
            for register in instruction.result_registers() if sources else []:
                known = pointers.setdefault(register, set())
                changed |= not sources <= known
                known |= sources
    return pointers


def access_of(instruction):
    """(address operand, bytes, whether it stores) of an access to global memory; None for other instructions."""
    words = instruction.words
    brackets = [operand for operand in instruction.operands if operand.startswith("[")]
    if words[:2] == ["cp", "async"]:
        if len(brackets) < 2:
            return None  # a commit or a wait
        size = [operand for operand in instruction.operands[2:] if operand.isdigit()]
        return brackets[1], int(size[0]) if size else 16, False
    if words[0] not in ("ld", "st", "ldu", "atom", "red") or not brackets:
        return None
    spaces = {word.split("::")[0] for word in words}
    if spaces & {"shared", "param", "local", "const"}:
        return None
    count = next((int(word[1:]) for word in words if re.fullmatch(r"v[248]", word)), 1)
    size = next((BYTES[word] for word in reversed(words) if word in BYTES), 0)
    return brackets[0], count * size, instruction.is_store() or words[0] == "atom"


def find_accesses(entry):
    """For each parameter that the kernel accesses: {"loads": widths, "stores": widths}, with repetitions.

    The key None has the accesses whose address comes from no parameter.
    """
    pointers = find_pointers(entry)
    accesses = {}
    for instruction in entry.instructions:
        access = access_of(instruction)
        if not access:
            continue
        address, size, stores = access
        owners = set()
        for register in REGISTER.findall(address):
            owners |= pointers.get(register, set())
        name = re.match(r"\[\s*([\w$]+)", address)
        if name and name[1] in entry.parameters:
            continue  # a parameter itself
        for owner in owners or {None}:
            kinds = accesses.setdefault(owner, {"loads": [], "stores": []})
            kinds["stores" if stores else "loads"].append(size)
    return accesses


def count_long_divisions(entry):
    """The number of 64-bit divisions and remainders of integers.

    The assembler calls a routine for each of them, even if the operands were extended from 32 bits, or the divisor is a
    constant.
    """
    return sum(instruction.name in ("div", "rem") and instruction.words[-1] in ("s64", "u64")
               for instruction in entry.instructions)


class MatrixUse:
    """What a kernel uses of the matrix units and of copies that run beside the computation."""

    def __init__(self, entry):
        names = [instruction.opcode for instruction in entry.instructions]
        self.uses_mma = any(name.startswith("mma.sync") for name in names)
        self.uses_ldmatrix = any(name.startswith("ldmatrix") for name in names)
        # Rounding writes each number to a register of its own, so vectors need no moves. Pairs of them are loaded as 64 bits.
        self.loads_vectors = any(re.fullmatch(r"ld\.shared\.(v[24]\.[fbu]32|(v2\.)?[bu]64)", name) for name in names)
        waits = [instruction.operands[0] for instruction in entry.instructions
                 if instruction.opcode.startswith("cp.async.wait_group") and instruction.operands]
        self.groups = max((int(wait) for wait in waits if wait.isdigit()), default=0)
        self.copies = any(name.startswith("cp.async") for name in names)
