#!/usr/bin/env python3
"""The memory accesses of a training step's kernels on a CUDA device, counted without one.

  bench/accesses.py MODEL.onnx --loss=.. --optimizer=.. [further flags of dpc-compile] [--blocks=4] [--integers=2] [--top=20]
                    [--keep=FOLDER]        tools: $DPC_BIN, or build/release/bin
  bench/accesses.py --counts=FILE          of a file that DPC_EMU_COUNT named

Compiles the model for sm_90, and runs one step on the emulated device with some blocks of each launch (docs/testing.md, "Counted
accesses"). Parameters are zeros; integers of the data are random and less than --integers. No timing: each run prints the same.

Prints a line per kernel, the most lines first: launches; GB that threads request; GB of the 128-byte lines that their accesses
touch, and how many times the least; wavefronts of shared memory, and how many times the least; the worst instruction. Each
launch counts as its counted blocks, times all blocks per counted block.
"""
import argparse
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNTED = 'requested', 'lines', 'least_lines', 'wavefronts', 'least_wavefronts'
TYPES = {'f64': 'f8', 'f16': 'f2', 'i64': 'i8', 'i32': 'i4', 'i16': 'i2', 'i8': 'i1', 'ui8': 'u1', 'i1': '?'}


def write_parameters(model, path):
    """A sparse file with a zero for each element of the model's initializers of f32."""
    import onnx
    header, end = {}, 0
    for tensor in onnx.load(model, load_external_data=False).graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        begin, end = end, end + 4 * math.prod(tensor.dims)
        header[tensor.name] = {'dtype': 'F32', 'shape': list(tensor.dims), 'data_offsets': [begin, end]}
    text = json.dumps(header).encode()
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text)
        file.truncate(8 + len(text) + end)


def write_data(program, path, below):
    """One batch of the inputs that the program names."""
    import numpy as np
    usage = subprocess.run([program, '--help'], capture_output=True, text=True, check=True).stdout
    random, arrays = np.random.default_rng(1), {}
    for name, kind, shape in re.findall(r'(\S+) (\w+)\[([\d,]+)\]', re.search(r'^inputs: (.*)$', usage, re.M)[1]):
        shape, kind = tuple(map(int, shape.split(','))), np.dtype(TYPES.get(kind, 'f4'))
        arrays[name] = random.standard_normal(shape).astype(kind) if kind.kind == 'f' else random.integers(0, below, shape).astype(kind)
    np.savez(path, **arrays)


def run_step(options, flags, folder):
    """The file of the counts of one step."""
    tools = os.path.abspath(os.environ.get('DPC_BIN', os.path.join(ROOT, 'build', 'release', 'bin')))
    program, data, parameters, counts = (os.path.join(folder, name) for name in ('program', 'data.npz', 'zeros.safetensors', 'counts'))
    subprocess.run([os.path.join(tools, 'dpc-compile'), options.model, '--target=cuda', '--cuda-arch=sm_90', '--ptxas=off',
                    '--params=none', *flags, '-o', program], check=True)
    write_parameters(options.model, parameters)
    write_data(program, data, options.integers)
    if os.path.exists(counts):
        os.remove(counts)
    environment = {'DPC_CUDA_LIBRARIES': os.path.join(tools, '..', 'cuda-emulator'), 'DPC_EMU_SM': '90', 'DPC_EMU_MEMORY_MB': '60000',
                   'DPC_EMU_BLOCKS': str(options.blocks), 'DPC_EMU_COUNT': counts, **os.environ}
    subprocess.run([os.path.join(tools, 'dpc-run'), program, '--data=' + data, '--init-params=' + parameters, '--steps=1', '--nan=warn'],
                   check=True, env=environment)
    return counts


def read_launches(counts):
    with open(counts) as lines:
        return [json.loads(line.split(maxsplit=1)[1]) for line in lines if line.startswith('launch ')]


def sum_kernels(launches):
    """By kernel: the number of launches, and what all blocks of them count; the worst site of one of them."""
    kernels = {}
    for launch in launches:
        kernel = kernels.setdefault(launch['kernel'], {'launches': 0, 'site': None, **dict.fromkeys(COUNTED, 0)})
        kernel['launches'] += 1
        for name in COUNTED:
            kernel[name] += launch[name] * launch['blocks'] / launch['counted']
        kernel['site'] = kernel['site'] or next(iter(launch['sites']), None)
    return kernels


def times(counted, least):
    return f'{counted / least:.2f}x' if least else ''


def print_kernels(kernels, top):
    shown = sorted(kernels.items(), key=lambda entry: -entry[1]['lines'])
    total = {name: sum(kernel[name] for kernel in kernels.values()) for name in ('launches', *COUNTED)}
    print(f'{"launches":>8} {"requested":>10} {"lines":>10} {"least":>7} {"wavefronts":>11} {"least":>7}  kernel: worst instruction')
    for name, kernel in [('all', {**total, 'site': None}), *shown[:top]]:
        site = kernel['site']
        print(f'{kernel["launches"]:>8} {kernel["requested"] / 1e9:>7.4g} GB {kernel["lines"] * 128 / 1e9:>7.4g} GB '
              f'{times(kernel["lines"], kernel["least_lines"]):>7} {kernel["wavefronts"]:>11.3g} '
              f'{times(kernel["wavefronts"], kernel["least_wavefronts"]):>7}  {name}'
              + (f': PTX line {site["line"]}, {site["text"]}' if site else ''))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('model', nargs='?')
    parser.add_argument('--counts')
    parser.add_argument('--blocks', type=int, default=4)
    parser.add_argument('--integers', type=int, default=2)
    parser.add_argument('--top', type=int, default=20)
    parser.add_argument('--keep')
    options, flags = parser.parse_known_args()
    if (options.model is None) == (options.counts is None):
        parser.error('give a model, or --counts')
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            folder = options.keep
            os.makedirs(folder, exist_ok=True)
        counts = options.counts or run_step(options, flags, folder)
        print_kernels(sum_kernels(read_launches(counts)), options.top)


if __name__ == '__main__':
    sys.exit(main())
