"""scripts/check-kernels on small programs: each bar is missed by a bad kernel, and passed by a good twin of it."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "kernels"))
import machine
import ptx

HAS_CODE = machine.find_tool("ptxas") and machine.find_tool("cuobjdump") and machine.find_tool("nvdisasm")
LARGE = [4096, 1024]  # f32 of 16 MiB


def write_ptx(name, body, parameters=2, threads=256, declared=""):
    """The text of a kernel whose parameter N is in %rdN, as an address in global memory."""
    names = [f"{name}_param_{number}" for number in range(parameters)]
    loads = "".join(f"  ld.param.u64 %rd{number}, [{parameter}];\n  cvta.to.global.u64 %rd{number}, %rd{number};\n"
                    for number, parameter in enumerate(names))
    return (".version 7.8\n.target sm_90\n.address_size 64\n"
            f".visible .entry {name}({', '.join('.param .u64 ' + parameter for parameter in names)})\n"
            f".maxntid {threads}, 1, 1\n{{\n  .reg .pred %p<9>;\n  .reg .b16 %h<9>;\n  .reg .b32 %r<400>;\n"
            f"  .reg .f32 %f<400>;\n  .reg .b64 %rd<30>;\n{declared}{loads}"
            # The offset of a thread, in %rd20.
            "  mov.u32 %r0, %tid.x;\n  mul.wide.u32 %rd20, %r0, 16;\n"
            f"{body}  ret;\n}}\n")


def buffer(role, shape, kind="f32", size=4):
    count = 1
    for extent in shape:
        count *= extent
    return {"role": role, "type": kind, "shape": shape, "bytes": count * size, "run": shape[-1] * size,
            "written": role != "operand"}


def launch(name, buffers, ops, **changes):
    return {"entry": "step", "function": "step.0", "number": 0, "kind": "kernel", "kernel": name + "_0", "file": name,
            "name": "kernel.0", "nodes": ["node_of_" + name], "ops": [{"name": op, "type": kind} for op, kind in ops],
            "kernelOps": [op for op, _ in ops], "factors": "f32", "blocks": 64, "threads": 256, "buffers": buffers, **changes}


COPY = [buffer("operand", LARGE), buffer("result", LARGE)]
WIDE = """  add.s64 %rd10, %rd0, %rd20;
  add.s64 %rd11, %rd1, %rd20;
  ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd10];
  st.global.v4.f32 [%rd11], {%f1, %f2, %f3, %f4};
"""
PRODUCT = [buffer("operand", [512, 512]), buffer("operand", [512, 512]), buffer("result", [512, 512])]
COPIES = """  cvt.u32.u64 %r20, %rd20;
  cp.async.cg.shared.global [%r20], [%rd0], 16;
  cp.async.commit_group;
  cp.async.wait_group 1;
"""
MATRICES = "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r20];\n"
MMA = ("  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, "
       "{%r1, %r2}, {%f1, %f2, %f3, %f4};\n")
STORE = "  st.global.v4.f32 [%rd2], {%f1, %f2, %f3, %f4};\n"
ZEROS = "".join(f"  mov.f32 %f{number}, 0f00000000;\n" for number in range(1, 5))


def loop(body):
    """`body` in a loop whose length only the device knows."""
    return ("  ld.global.u32 %r10, [%rd0];\n$L_loop:\n" + body +
            "  add.s32 %r10, %r10, -1;\n  setp.ne.s32 %p1, %r10, 0;\n  @%p1 bra $L_loop;\n")


class CheckKernels(unittest.TestCase):
    def run_script(self, programs, *options, counts=None):
        """(status, {row: fields}) of kernels given as (PTX, launch)."""
        with tempfile.TemporaryDirectory() as folder:
            for number, (text, fields) in enumerate(programs):
                Path(folder, fields["file"] + ".ptx").write_text(text)
                fields["number"] = number
            lines = "".join(json.dumps(fields) + "\n" for _, fields in programs)
            Path(folder, "launches.jsonl").write_text(lines)
            if counts is not None:
                Path(folder, "counts").write_text(counts)
                options += (f"--counts={folder}/counts",)
            result = self.call(folder, "--json", *options)
            self.assertIn(result.returncode, (0, 1), result.stderr)
            self.assertEqual(result.stderr, "")
            return result.returncode, {row["row"]: row for row in json.loads(result.stdout)["rows"]}

    def call(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "scripts" / "check-kernels", *arguments],
                              capture_output=True, text=True, check=False)

    def expect(self, row, passes, programs, found=None, *options, **more):
        status, rows = self.run_script(programs, f"--rows={row}", *options, **more)
        self.assertEqual(list(rows), [row])
        self.assertEqual((status, rows[row]["passed"]), (0, True) if passes else (1, False), rows[row])
        if found is not None:
            self.assertIn(found, json.dumps(rows[row]["worst"]))
        return rows[row]

    def check_twins(self, row, bad, good, found, *options, **more):
        self.expect(row, True, [good], None, *options, **more)
        worst = self.expect(row, False, [good, bad], found, *options, **more)["worst"]
        self.assertEqual([entry["kernel"] for entry in worst], [bad[1]["kernel"]])
        self.assertEqual(worst[0]["nodes"], ["node_of_bad"])

    def of(self, body, buffers=None, ops=(("exp", "f32"),), name="bad", declared="", threads=256, **changes):
        buffers = COPY if buffers is None else buffers
        return (write_ptx(name + "_0", body, len(buffers), threads, declared),
                launch(name, buffers, ops, threads=threads, **changes))

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_stack_frame(self):
        frame = """  mov.u64 %rd12, depot;
  and.b64 %rd13, %rd20, 1023;
  add.s64 %rd12, %rd12, %rd13;
  st.local.f32 [%rd12], %f1;
  ld.local.f32 %f1, [depot];
  st.global.f32 [%rd11], %f1;
"""
        bad = self.of(WIDE + frame, declared="  .local .align 16 .b8 depot[1024];\n")
        self.check_twins(1, bad, self.of(WIDE, name="good"), "1024 bytes")

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_spills(self):
        def hold(count):
            loads = "".join(f"  ld.volatile.global.f32 %f{n}, [%rd0+{4 * n}];\n" for n in range(count))
            return loads + "".join(f"  st.volatile.global.f32 [%rd1+{4 * n}], %f{n};\n" for n in range(count))
        self.check_twins(1, self.of(hold(390)), self.of(hold(40), name="good"), "bytes")

    def test_narrow_loads_and_stores(self):
        narrow = WIDE.replace("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}", "ld.global.nc.f32 %f1")
        self.check_twins(2, self.of(narrow), self.of(WIDE, name="good"), "parameter 0, operand 4096x1024 f32: in 4 bytes")
        narrow = WIDE.replace("st.global.v4.f32 [%rd11], {%f1, %f2, %f3, %f4}", "st.global.v2.f32 [%rd11], {%f1, %f2}")
        self.check_twins(2, self.of(narrow), self.of(WIDE, name="good"), "parameter 1, result 4096x1024 f32: in 8 bytes")

    def test_share_of_a_thread(self):
        mask = [*COPY, buffer("operand", LARGE, "i1", size=1)]
        def reading(access, name="bad"):
            return self.of(WIDE + f"  ld.global.{access} %r1, [%rd2];\n", mask, name=name)
        # Four elements of a mask beside four of f32, not two.
        self.check_twins(2, reading("u16"), reading("u32", "good"), "parameter 2, operand 4096x1024 i1: in 2 bytes")
        # Loops over 16-bit tensors alone have other shares than those that read f32 too.
        halves = [*COPY, buffer("operand", LARGE, "bf16", size=2)]
        loads = lambda narrow: WIDE + f"  ld.global.{narrow} {{%r1, %r2}}, [%rd2];\n  ld.global.v4.b32 {{%r3, %r4, %r5, %r6}}, [%rd2];\n"
        self.check_twins(2, self.of(loads("v2.u16"), halves), self.of(loads("v2.b32"), halves, name="good"), "in 4, 16 bytes")
        # No other tensor says how many elements a thread has.
        self.expect(2, False, [self.of("  ld.global.u32 %r1, [%rd0];\n", [buffer("operand", [8192, 1024], "i1", size=1)])], "in 4 bytes")

    def test_one_narrow_access_beside_wide_ones(self):
        self.check_twins(2, self.of(WIDE + "  ld.global.f32 %f9, [%rd0+64];\n"), self.of(WIDE, name="good"), "in 4, 16 bytes")

    def test_addresses_are_followed(self):
        for moves in ("  mad.lo.s64 %rd12, %rd20, 8, %rd0;\n",
                      "  selp.b64 %rd12, %rd0, %rd20, %p1;\n",
                      "  mov.u64 %rd12, 0;\n$L_merge:\n  add.s64 %rd12, %rd13, 16;\n  mov.u64 %rd13, %rd0;\n  bra $L_merge;\n",
                      "  { .reg .b64 t; mov.b64 %rd12, %rd0; }\n"):
            load = moves + "  @%p1 ld.global.L1::no_allocate.u32 %r2, [%rd12+4];\n"
            self.expect(2, False, [self.of(WIDE + load)], "parameter 0, operand 4096x1024 f32: in 4, 16 bytes")
        # Factors, and values that are loaded, are no addresses.
        for moves in ("  mad.lo.s64 %rd12, %rd0, 8, %rd20;\n", "  ld.global.v2.u64 {%rd12, %rd13}, [%rd0];\n"):
            self.expect(2, True, [self.of(WIDE + moves + "  ld.global.u32 %r2, [%rd12];\n")])

    def test_asynchronous_copies(self):
        copy = "  cp.async.ca.shared.global [%r1], [%rd10], 4;\n"
        self.check_twins(2, self.of(WIDE + copy), self.of(WIDE + copy.replace("ca", "cg", 1).replace("4;", "16;"), name="good"),
                         "in 4, 16 bytes")

    def test_parameter_without_access(self):
        self.check_twins(2, self.of(WIDE.replace("[%rd10]", "[%rd22]")), self.of(WIDE, name="good"), "no access that was found")

    def test_small_and_odd_tensors_are_left_out(self):
        narrow = self.of(WIDE + "  ld.global.f32 %f9, [%rd2];\n", [*COPY, buffer("operand", [1024])])
        self.expect(2, True, [narrow])
        odd = self.of(WIDE + "  ld.global.f32 %f9, [%rd2];\n", [*COPY, buffer("operand", [4096, 1001])])
        self.expect(2, True, [odd])
        even = self.of(WIDE + "  ld.global.f32 %f9, [%rd2];\n", [*COPY, buffer("operand", [4096, 1004])])
        self.expect(2, False, [even], "parameter 2")
        scratch = self.of(WIDE + "  ld.global.f32 %f9, [%rd2];\n", [*COPY, buffer("scratch", LARGE)])
        self.expect(2, True, [scratch])
        # Rows of a padded tensor that are copied to rows of odd length.
        def copied(rows, op):
            return self.of("  ld.global.f32 %f1, [%rd0];\n  st.global.f32 [%rd1], %f1;\n",
                           [buffer("operand", [rows, 1004]), buffer("result", [4096, 1001])], ops=((op, "f32"),))
        status, rows = self.run_script([copied(4096, "slice")], "--rows=2")
        self.assertEqual((status, rows[2]["passed"]), (0, None))
        for rows, op in (4096, "exp"), (4095, "slice"):
            self.expect(2, False, [copied(rows, op)], "parameter 0")
        small = self.of("", [buffer("operand", [1024, 1024]), buffer("result", [512, 512])])
        status, rows = self.run_script([small], "--rows=2")
        self.assertEqual((status, rows[2]["passed"]), (0, None))

    def test_products_may_be_narrow(self):
        for changes in {"ops": (("conv_input_grad", "f32"),)}, {"kernelOps": ["attention"]}, {"kind": "call"}:
            status, rows = self.run_script([self.of("  ld.global.f32 %f1, [%rd0];\n", **changes)], "--rows=2")
            self.assertEqual((status, rows[2]["passed"]), (0, None))
        self.expect(2, False, [self.of("  ld.global.f32 %f1, [%rd0];\n", ops=(("convert", "f32"),))], "in 4 bytes")

    def test_lines_and_wavefronts(self):
        good, bad = self.of(WIDE, name="good"), self.of(WIDE)
        for row, field, least in (3, "lines", 1.15), (4, "wavefronts", 1.1):
            def line(name, ratio, field=field):
                return "launch " + json.dumps({"kernel": name + "_0", field: 1000 * ratio, "least_" + field: 1000}) + "\n"
            counts = "cuLaunchKernel 7\nlaunch {broken\n" + line("bad", least + 0.01) + line("good", least)
            judged = self.expect(row, False, [good, bad], f"{least + 0.01:.2f}", counts=counts)
            self.assertEqual([entry["kernel"] for entry in judged["worst"]], ["bad_0"])
            self.assertEqual(judged["value"], f"{least + 0.01:.2f} at most")
            self.expect(row, True, [good, bad], counts="kernel 3\n" + line("good", 1) + line("bad", least))

    def test_not_measured(self):
        status, rows = self.run_script([self.of(WIDE)], "--rows=3")
        self.assertEqual((status, rows[3]["measured"], rows[3]["passed"]), (1, False, False))
        status, rows = self.run_script([self.of(WIDE)])
        self.assertEqual((rows[3]["measured"], rows[3]["passed"]), (False, None))
        self.assertEqual(status, 0, rows)

    def test_bytes(self):
        product = self.of("", PRODUCT, (("dot", "f32"),), "product")
        parts = self.of("", PRODUCT, (("dot.parts", "f32"),), "parts")
        scores = self.of("", COPY, (("exp", "f32"),), "scores", kernelOps=["attention"])
        elsewhere = self.of(WIDE, name="other", entry="eval")
        programs = [self.of(WIDE), product, parts, scores, elsewhere]
        self.expect(5, True, programs, None, "--bytes=33554432")  # two buffers of 16 MiB
        self.expect(5, False, programs, "0.03 GB in 1 launches", "--bytes=33.5MB")
        _, rows = self.run_script(programs, "--rows=5")
        self.assertIsNone(rows[5]["passed"])
        # A launch that touches a part of its buffers.
        counts = "launch " + json.dumps({"kernel": "bad_0", "distinct": 1000, "counted": 64, "blocks": 64})
        self.expect(5, True, programs, None, "--bytes=1000", counts=counts)
        self.expect(5, False, programs, None, "--bytes=1000", counts=counts.replace('"counted": 64', '"counted": 8'))

    def test_launches(self):
        programs = [self.of(WIDE), self.of(WIDE, name="second"), self.of(WIDE, name="other", entry="eval")]
        self.expect(6, True, programs, None, "--launches=2")
        self.expect(6, False, programs, None, "--launches=1")

    def test_divisions(self):
        long = "  ld.global.u64 %rd12, [%rd0];\n  div.u64 %rd13, %rd20, %rd12;\n  st.global.u64 [%rd1], %rd13;\n"
        short = "  ld.global.u32 %r12, [%rd0];\n  div.u32 %r13, %r0, %r12;\n  st.global.u32 [%rd1], %r13;\n"
        for name in "div.u64", "rem.s64":
            self.check_twins(6, self.of(long.replace("div.u64", name)), self.of(short, name="good"), "1 divisions")

    @unittest.skipUnless(machine.find_tool("ptxas"), "ptxas is missing")
    def test_divisions_in_machine_code(self):
        call = ("  { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd20;\n"
                "  call.uni (b), halve, (a);\n  ld.param.b64 %rd12, [b]; }\n  st.global.u64 [%rd1], %rd12;\n")

        def function(divide):
            return (".func (.param .b64 b) halve(.param .b64 a)\n{\n  .reg .b64 %rd<4>;\n  ld.param.u64 %rd1, [a];\n"
                    f"  {divide}\n  st.param.b64 [b], %rd2;\n  ret;\n}}\n")

        def kernel(name, divide):
            text, fields = self.of(call, name=name)
            return text.replace("64\n.visible", "64\n" + function(divide) + ".visible"), fields
        self.check_twins(6, kernel("bad", "div.u64 %rd2, %rd1, 7;"), kernel("good", "shr.u64 %rd2, %rd1, 3;"),
                         "calls a routine that divides")

    def narrow_product(self, body, name="bad", **changes):
        return self.of(ZEROS + body + STORE, PRODUCT, (("dot", "bf16"), ("add", "f32")), name, **changes)

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_matrix_units(self):
        good = self.narrow_product(COPIES + MATRICES + MMA, "good")
        for body, found in ((COPIES + MATRICES, "no mma"), (COPIES + MMA, "no ldmatrix"),
                            (MATRICES + MMA, "no cp.async"),
                            (COPIES.replace("group 1", "group 0") + MATRICES + MMA, "waits for all groups")):
            self.check_twins(7, self.narrow_product(body), good, found)

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_vectors_in_place_of_ldmatrix(self):
        def product(load, kind, name="bad"):
            return self.of(ZEROS + COPIES + load + MMA + STORE, PRODUCT, (("dot", kind),), name, factors="tf32")
        vectors = "  ld.shared.v2.f32 {%f1, %f2}, [%r20];\n", "  ld.shared.v2.b64 {%rd12, %rd13}, [%r20];\n"
        for vector in vectors:
            good = product(vector, "f32", "good")
            self.check_twins(7, product("  ld.shared.f32 %f1, [%r20];\n", "f32"), good, "no ldmatrix")
            self.check_twins(7, product(vector, "bf16"), good, "no ldmatrix")

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_registers(self):
        def hold(count):
            loads = "".join(f"  ld.volatile.global.f32 %f{n + 9}, [%rd0+{4 * n}];\n" for n in range(count))
            return loads + "".join(f"  st.volatile.global.f32 [%rd1+{4 * n}], %f{n + 9};\n" for n in range(count))
        body = COPIES + MATRICES + MMA
        self.check_twins(7, self.narrow_product(hold(140) + body), self.narrow_product(hold(100) + body, "good"),
                         "registers x 256 threads")
        self.check_twins(7, self.narrow_product(hold(180) + body, threads=128),
                         self.narrow_product(hold(140) + body, "good", threads=128), "registers x 128 threads")
        # Split factors need the registers of two blocks.
        self.check_twins(7, self.of(ZEROS + hold(140) + body + STORE, PRODUCT, (("dot", "f32"),), factors="tf32"),
                         self.of(ZEROS + hold(140) + body + STORE, PRODUCT, (("dot", "f32"),), "good", factors="tf32x3"),
                         "registers x 256 threads")

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_rounded_products_of_f32(self):
        plain = self.of(ZEROS + STORE, PRODUCT, (("dot", "f32"),), factors="tf32")
        self.expect(7, False, [plain], "no mma")
        for op, factors in ("dot", "f32"), ("dot.parts", "tf32x3"):
            exempt = self.of(ZEROS + STORE, PRODUCT, ((op, "f32"),), factors=factors)
            status, rows = self.run_script([exempt], "--rows=7")
            self.assertEqual((status, rows[7]["passed"]), (0, None))

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_share_of_multiplications(self):
        def multiply(others):
            adds = "".join(f"  fma.rn.f32 %f{20 + n}, %f{1 + n % 4}, %f{20 + n}, %f2;\n" for n in range(40))
            work = "".join(f"  xor.b32 %r{20 + n}, %r{20 + n}, %r10;\n  mul.lo.s32 %r{20 + n}, %r{20 + n}, %r0;\n"
                           for n in range(others))
            used = "".join(f"  st.volatile.global.f32 [%rd2+{4 * n}], %f{20 + n};\n" for n in range(40))
            used += "".join(f"  st.volatile.global.u32 [%rd2+{4 * n}], %r{20 + n};\n" for n in range(others))
            values = "".join(f"  ld.volatile.global.f32 %f{n}, [%rd1+{4 * n}];\n" for n in range(1, 5))
            values += "".join(f"  mov.f32 %f{20 + n}, %f1;\n" for n in range(40))
            values += "".join(f"  mov.u32 %r{20 + n}, {n};\n" for n in range(others))
            return values + loop(adds + work) + used
        for op in "dot", "conv", "conv_weight_grad":
            self.check_twins(8, self.of(multiply(20), PRODUCT, ((op, "f32"),)),
                             self.of(multiply(0), PRODUCT, ((op, "f32"),), "good"), "% FFMA of")

    def test_shares_of_other_kernels_are_not_judged(self):
        for op in ("attention", "f32"), ("dot", "f64"), ("dot.parts", "f32"), ("exp", "f32"):
            status, rows = self.run_script([self.of("", PRODUCT, (op,))], "--rows=8")
            self.assertEqual((status, rows[8]["passed"]), (0, None))

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_share_of_matrix_multiplications(self):
        good = loop(MATRICES + 4 * MMA)
        bad = loop(MATRICES + MMA + "".join(f"  ld.volatile.shared.u32 %r{30 + n}, [%r20+{4 * n}];\n" for n in range(20)))
        self.check_twins(8, self.narrow_product(COPIES + bad), self.narrow_product(COPIES + good, "good"), "% HMMA of")

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_share_without_a_loop(self):
        loads = "".join(f"  ld.volatile.shared.u32 %r{30 + n}, [%r20+{4 * n}];\n  xor.b32 %r1, %r1, %r{30 + n};\n"
                        for n in range(20))
        stores = "".join(f"  st.volatile.global.f32 [%rd1+{4 * n}], %f1;\n" for n in range(30))
        # The stores need the result of the last mma, so they are in no slice.
        good = self.narrow_product(COPIES + MATRICES + 8 * MMA + stores, "good")
        self.check_twins(8, self.narrow_product(COPIES + MATRICES + loads + 8 * MMA), good, "% HMMA of")

    def test_scores(self):
        operands = [buffer("operand", [2, 128, 4, 64]) for _ in range(3)]
        scores, copy = 4 * 2 * 4 * 128 * 128, 4 * 2 * 128 * 4 * 64

        def attention(name, count, ops=(("attention", "f32"),), **changes):
            return self.of("", [*operands, buffer("scratch", [count], "i8", 1)], ops, name, **changes)
        self.check_twins(9, attention("bad", scores), attention("good", copy), f"{scores} bytes")
        # Also if the attention was decomposed, and another launch of the kernel reads the operands.
        second = attention("bad", scores, (("exp", "f32"),), kernelOps=["attention", "convert"])
        self.expect(9, False, [second], "scratch")

    @unittest.skipUnless(HAS_CODE, "ptxas, cuobjdump or nvdisasm is missing")
    def test_code_that_is_no_code(self):
        with tempfile.TemporaryDirectory() as folder:
            text, fields = self.of(WIDE)
            Path(folder, "launches.jsonl").write_text(json.dumps(fields))
            Path(folder, "bad.ptx").write_text(text.replace("ret;", "return;"))
            result = self.call(folder, "--rows=1")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("error: ptxas fails on bad.ptx: ", result.stderr)
            Path(folder, "bad.sm_90.cubin").write_text("no machine code")
            self.assertIn("error: cuobjdump ", self.call(folder, "--rows=1").stderr)

    def test_bad_usage(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "launches.jsonl").write_text('{"entry": "step"}\n')
            for arguments, message in (((), "FOLDER"), ((folder, "--rows=0"), "'0' is no list of rows"),
                                       ((folder, "--rows=1,12"), "no list of rows"), ((folder, "--bytes=much"), "number of bytes"),
                                       ((folder, "--launches=-1"), "number above 0"), ((folder, "--unknown"), "--unknown"),
                                       ((folder + "/none",), "launches.jsonl: No such file"),
                                       ((folder,), "line 1 is no launch")):
                result = self.call(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertIn(message, result.stderr.splitlines()[-1])
                self.assertNotIn("Traceback", result.stderr)
            Path(folder, "launches.jsonl").write_text(json.dumps(self.of(WIDE)[1]))
            self.assertIn("bad.ptx: No such file", self.call(folder).stderr)
            Path(folder, "bad.ptx").write_text(self.of(WIDE, name="good")[0])
            self.assertIn("no PTX has the kernel bad_0", self.call(folder).stderr)
            Path(folder, "bad.ptx").write_text(self.of(WIDE)[0])
            result = self.call(folder, f"--counts={folder}/none")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            Path(folder, "counts").write_text("cuInit 1\n")
            self.assertIn("has no lines", self.call(folder, f"--counts={folder}/counts").stderr)

    def test_table(self):
        with tempfile.TemporaryDirectory() as folder:
            text, fields = self.of(WIDE.replace("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}", "ld.global.nc.f32 %f1"))
            Path(folder, "bad.ptx").write_text(text)
            Path(folder, "launches.jsonl").write_text(json.dumps(fields) + "\n")
            result = self.call(folder, "--rows=2,5")
            self.assertEqual((result.returncode, result.stderr), (1, ""))
            self.assertIn("2  MISSED", result.stdout)
            self.assertIn("1 of 2 (50.0 %)", result.stdout)
            self.assertIn("in 4 bytes: bad_0 (node_of_bad)", result.stdout)
            self.assertIn("5  -", result.stdout)


class ReadsPtx(unittest.TestCase):
    def test_kernels_and_parameters(self):
        text = write_ptx("a_0", WIDE, 2, 128) + write_ptx("a_1", "", 0).split("64\n", 1)[1]
        entries = ptx.parse(text)
        self.assertEqual({name: (entry.parameters, entry.threads) for name, entry in entries.items()},
                         {"a_0": (["a_0_param_0", "a_0_param_1"], 128), "a_1": ([], 256)})

    def test_parameters_with_attributes(self):
        text = ".visible .entry k(\n\t.param .u64 .ptr .global .align 16 k_param_0,\n\t.param .align 8 .b8 k_param_1[16]\n)\n{\nret;\n}"
        self.assertEqual(ptx.parse(text)["k"].parameters, ["k_param_0", "k_param_1"])
