#!/usr/bin/env python3
"""Writes the PTX of kernels.mlir.

  make_ptx.py MLIR_OPT OUT CHIP FEATURE [SEED]

CHIP and FEATURE are sm_80 and ptx75, or sm_90 and ptx78. With SEED the kernels have that error:

  barrier   a value is read before a barrier makes it visible
  war       shared memory is overwritten while others still read it
  cpasync   nobody waits for an asynchronous copy
  oob       threads behind the end of an array take part
  align     shared memory does not declare the alignment that its accesses need
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def seeded(text, seed):
    if seed == 'align':
        return text.replace(' {llvm.align = 16 : i64}', '')
    lines = []
    for line in text.splitlines():
        if f'SEED:{seed}' not in line:
            lines.append(line)
        elif seed == 'oob':
            lines.append(re.sub(r'arith.cmpi slt, %i, %ni : index', 'arith.constant true', line))
    return '\n'.join(lines)


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    mlir_opt, out, chip, feature = sys.argv[1:5]
    with open(os.path.join(HERE, 'kernels.mlir')) as file:
        text = file.read()
    if len(sys.argv) == 6:
        changed = seeded(text, sys.argv[5])
        if changed.strip() == text.strip():
            sys.exit(f'the error {sys.argv[5]} changes nothing')
        text = changed
    lower = ('convert-nvgpu-to-nvvm,convert-scf-to-cf,convert-vector-to-llvm,'
             'convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1 has-redux=1},convert-math-to-llvm,canonicalize,cse,'
             'reconcile-unrealized-casts')
    pipeline = (f'builtin.module(nvvm-attach-target{{chip={chip} features=+{feature} O=3}},gpu.module({lower}),'
                'gpu-module-to-binary{format=isa})')
    printed = subprocess.run([mlir_opt, f'--pass-pipeline={pipeline}'], input=text, check=True, stdout=subprocess.PIPE,
                             text=True).stdout
    found = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', printed)
    if not found:
        sys.exit(f'{mlir_opt} printed no PTX')
    ptx = re.sub(r'\\([0-9A-F]{2}|.)', lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], found[1])
    with open(out, 'w') as file:
        file.write(ptx.rstrip('\0'))


if __name__ == '__main__':
    main()
