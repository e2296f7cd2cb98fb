#!/usr/bin/env python3
"""Pipelines whose pieces sleep as long as the plan says, against the plan.

  bench/pipelines.py [--stages=2,4] [--seconds=S] [--overlap=on,off] [--device]    tools: $DPC_BIN, or build/release/bin; c++ or $CXX links

The model is a chain of equal layers. For each schedule, with and without --overlap, the pieces of a compiled program sleep for
their modelled time, stretched so that a step takes S seconds (default 1.5). The processor is idle then, so two cores suffice for
four ranks, and what remains is the time that messages, waits and the table take. Prints the longest of three steps over the plan,
and whether each stage runs its pieces in the order of the plan.

With --device, the programs run on the emulated device, where each kernel takes the same time, over NCCL and staged by the hosts,
without CUDA graphs: the emulator runs the nodes of a graph one after the other.
The plan is the order of pieces with this time, without messages.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEDULES = (['gpipe'], ['1f1b'], ['zero-bubble'], ['interleaved'], ['zero-bubble', '--chunks=2'])
STEPS, MICROBATCHES = 4, 8
WIDTH, DEVICE_WIDTH = 256, 512


def chain(path, layers, rows, width):
    import onnx
    from onnx import helper, numpy_helper
    random, nodes, weights, value = np.random.default_rng(0), [], [], 'x'
    for layer in range(layers):
        weights.append(numpy_helper.from_array((random.standard_normal((width, width)) / 8).astype('f'), f'w{layer}'))
        nodes += [helper.make_node('MatMul', [value, f'w{layer}'], [f'h{layer}'], name=f'product{layer}'),
                  helper.make_node('Tanh', [f'h{layer}'], [f'y{layer}'], name=f'tanh{layer}')]
        value = f'y{layer}'
    shape = [rows, width]
    graph = helper.make_graph(nodes, 'chain', [helper.make_tensor_value_info('x', 1, shape)],
                              [helper.make_tensor_value_info(value, 1, shape)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)]), path)


def plan_of(text):
    """(by stage its pieces, as (name, microbatch, start, end) in ns) of a module at level exec."""
    attribute = re.search(r'#dist\.pipeline<.*?rows = \[(.*?)\], starts = \[(.*?)\], ends = \[(.*?)\], held', text)
    rows = re.findall(r'"([^"]*)"', attribute[1])
    starts, ends = ([[int(number) for number in re.findall(r'\d+', each.split(':')[1])]
                     for each in re.findall(r'<([^>]*)>', attribute[at])] for at in (2, 3))
    return [[(kind + chunk, int(micro), start, end) for (chunk, kind, micro), start, end
             in zip(re.findall(r'(\d+)([FBW])(\d+)', row), *times)] for row, *times in zip(rows, starts, ends)]


def link(tools, program):
    libraries = os.path.join(tools, '..', 'lib')
    subprocess.run([os.environ.get('CXX', 'c++'), '-I', os.path.join(ROOT, 'runtime', 'include'), '-std=c++17', '-x', 'c++',
                    os.path.join(ROOT, 'bench', 'SleepingPieces.cpp'), '-x', 'none', program + '.o',
                    os.path.join(libraries, 'libdpc_runtime.a'), os.path.join(libraries, 'libdpc_runtime_data.a'),
                    '-lz', '-lm', '-lpthread', '-lrt', '-o', program], check=True)


def measure(tools, folder, stages, flags, comm, seconds):
    """(longest step over the plan, whether the order is that of the plan)"""
    model, data, program, tables = (os.path.join(folder, name) for name in ('chain.onnx', 'data.npz', 'program', 'tables'))
    rows = MICROBATCHES * 32
    chain(model, 4 * stages, rows, WIDTH)
    values = np.random.default_rng(1).standard_normal((rows * STEPS, WIDTH)).astype('f')
    np.savez(data, x=values, label=values)
    command = [os.path.join(tools, 'dpc-compile'), model, '--loss=mse', '--optimizer=sgd,lr=0.01', f'--mesh=pipe={stages}',
               f'--microbatches={MICROBATCHES}', *flags]
    for extra in (['--stop-after=exec', '-o', tables], ['--emit=object', '-o', program + '.o']):
        subprocess.run(command + extra, check=True, stderr=subprocess.DEVNULL)
    with open(tables) as file:
        plan = plan_of(file.read())
    link(tools, program)
    makespan = max(piece[-1][3] for piece in plan if piece)
    stretch = seconds * 1e9 / makespan
    naps = {name: int((end - start) * stretch) for stage in plan for name, _, start, end in stage}
    runs = os.path.join(folder, 'runs')
    environment = {**os.environ, 'DPC_BENCH_RUNS': runs,
                   'DPC_BENCH_SLEEP': ','.join(f'{name}={ns}' for name, ns in naps.items())}
    subprocess.run([os.path.join(tools, 'dpc-run'), program, f'--comm={comm}', f'--data={data}', '--no-shuffle', f'--steps={STEPS}'],
                   check=True, env=environment, stdout=subprocess.DEVNULL)
    begins, ends, in_order = [[] for _ in range(STEPS)], [[] for _ in range(STEPS)], True
    for stage, pieces in enumerate(plan):
        with open(f'{runs}.{stage}') as file:
            lines = [line.split() for line in file]
        for step in range(STEPS):
            own = lines[step * len(pieces):(step + 1) * len(pieces)]
            in_order &= [(name, int(micro)) for name, micro, *_ in own] == [piece[:2] for piece in pieces]
            begins[step].append(int(own[0][2]))
            ends[step].append(int(own[-1][3]))
    # The first step is left out: ranks start it at different times.
    longest = max(max(end) - min(begin) for begin, end in zip(begins[1:], ends[1:]))
    return longest / (makespan * stretch), in_order


def simulate(plan, kernels):
    """The time of a step in kernels, if each stage runs the kernels of its entry, its pieces, and the update."""
    kinds = {name for stage in plan for name, *_ in stage}
    chunks = sorted({int(name[1:]) for name in kinds})  # chunks that meet on one stage are one
    needs = {}
    for before, chunk, after in zip([None] + chunks, chunks, chunks[1:] + [None]):
        # A chunk without a piece B computes the gradients for the chunk before it in its piece F.
        gradient = [] if after is None else [f'B{after}' if f'B{after}' in kinds else f'F{after}']
        own = [f'F{chunk}']
        needs[f'F{chunk}'] = [] if before is None else [f'F{before}']
        needs[f'B{chunk}'] = own + gradient
        needs[f'W{chunk}'] = [f'B{chunk}'] if f'B{chunk}' in kinds else own + gradient
    ends, times, at = {}, [before for before, _ in kernels['entry']], [0] * len(plan)
    while sum(at) < sum(map(len, plan)):
        moved = False
        for stage, pieces in enumerate(plan):
            if at[stage] == len(pieces):
                continue
            name, micro = pieces[at[stage]][:2]
            if all((need, micro) in ends for need in needs[name]):
                start = max([times[stage]] + [ends[need, micro] for need in needs[name]])
                times[stage] = ends[name, micro] = start + kernels[name]
                at[stage] += 1
                moved = True
        assert moved, plan
    return max(time + after for time, (_, after) in zip(times, kernels['entry']))


def kernels_of(text, stages):
    """By piece its kernels (a launch with scratch memory has two), and for `entry` a list of those before and after the pieces of each stage."""
    count = {'entry': [[0, 0] for _ in range(stages)]}
    for stage, module in enumerate(text.split('module @stage.')[1:]):
        for body in re.findall(r'exec\.function @step\.(.*?)\n    }', module, re.S):
            name, launches = re.match(r'\w+', body)[0], len(re.findall(r'exec\.launch|\) scratch\(', body))
            if name.isdigit():
                count['entry'][stage][name != '0'] += launches
            else:
                count[name] = count.get(name, 0) + launches
    return count


def measure_device(tools, folder, stages, flags, comm, micros):
    """The longest step over the plan."""
    model, data, program, tables, log, counts = (os.path.join(folder, name) for name in (
        'chain.onnx', 'data.npz', 'program', 'tables', 'log', 'counts'))
    rows = MICROBATCHES * 2 * DEVICE_WIDTH
    chain(model, 16 * stages, rows, DEVICE_WIDTH)
    values = np.random.default_rng(1).standard_normal((rows, DEVICE_WIDTH)).astype('f')
    np.savez(data, x=values, label=values)
    command = [os.path.join(tools, 'dpc-compile'), model, '--loss=mse', '--optimizer=sgd,lr=0.01', f'--mesh=pipe={stages}',
               f'--microbatches={MICROBATCHES}', '--target=cuda', '--products=generated', *flags]
    for extra in (['--stop-after=exec', '-o', tables], ['-o', program]):
        subprocess.run(command + extra, check=True, stderr=subprocess.DEVNULL)
    with open(tables) as file:
        text = file.read()
    if os.path.exists(counts):
        os.remove(counts)
    plan, kernels = plan_of(text), kernels_of(text, stages)
    environment = {**os.environ, 'DPC_CUDA_LIBRARIES': os.path.join(tools, '..', 'cuda-emulator'), 'DPC_EMU_KERNEL_US': str(micros),
                   'DPC_EMU_THREADS': '1', 'DPC_EMU_COUNT': counts}
    subprocess.run([os.path.join(tools, 'dpc-run'), program, f'--comm={comm}', '--cuda-graph=off', f'--data={data}',
                    '--no-shuffle', f'--steps={STEPS}', f'--log={log}'], check=True, env=environment, stdout=subprocess.DEVNULL)
    with open(log) as file:
        seconds = [json.loads(line)['seconds'] for line in file]
    # The kernel that computes the loss consists of more kernels than the others. All of these belong to the last chunk.
    with open(counts) as file:
        ran = sum(int(line.split()[2]) for line in file if line.split()[1] == 'kernel') / STEPS
    known = sum(kernels[name] for stage in plan for name, *_ in stage) + sum(map(sum, kernels['entry']))
    last = max((name for name in kernels if name[0] == 'F'), key=lambda name: int(name[1:]))
    kernels[last] += (ran - known) / MICROBATCHES
    return max(seconds[1:]) / (simulate(plan, kernels) * micros * 1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--stages', default='2,4')
    parser.add_argument('--seconds', type=float, default=1.5)
    parser.add_argument('--overlap', default='on,off')
    parser.add_argument('--device', action='store_true')
    options = parser.parse_args()
    tools = os.environ.get('DPC_BIN', os.path.join(ROOT, 'build', 'release', 'bin'))
    print(f'{"stages":>6}  {"schedule":24}{"overlap":9}{"comm":9}{"over the plan":>13}  order')
    with tempfile.TemporaryDirectory() as folder:
        for stages in map(int, options.stages.split(',')):
            for schedule, *more in SCHEDULES:
                for overlap in options.overlap.split(','):
                    for comm in ('nccl', 'local') if options.device else ('local', 'sockets'):
                        flags = [f'--schedule={schedule}', *more, f'--overlap={overlap}']
                        if options.device:
                            ratio = measure_device(tools, folder, stages, flags, comm, 5000)
                            print(f'{stages:>6}  {" ".join([schedule, *more]):24}{overlap:9}'
                                  f'{"staged" if comm == "local" else comm:9}{ratio:>13.3f}', flush=True)
                            continue
                        ratio, in_order = measure(tools, folder, stages, flags, comm, options.seconds)
                        print(f'{stages:>6}  {" ".join([schedule, *more]):24}{overlap:9}{comm:9}{ratio:>13.3f}  '
                              f'{"as planned" if in_order else "ANOTHER"}', flush=True)


if __name__ == '__main__':
    sys.exit(main())
