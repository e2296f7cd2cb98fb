"""Part 7: hardware counters of the eight longest kernels of GPT-2, by Nsight Compute."""
import csv
import io
import shutil

from sitting import Failed, Item, Skipped, run

COUNT = 8
SECTIONS = 'SpeedOfLight', 'MemoryWorkloadAnalysis', 'Occupancy', 'WarpStateStats', 'ComputeWorkloadAnalysis'


def longest(results, name, precision):
    """The kernels that take most of the measured step, by part 3."""
    us = {}
    for line in results.lines:
        if line.get('item') == f'profile {name} {precision}' and line.get('kind') == 'kernel' and line.get('us'):
            us[line['kernel']] = us.get(line['kernel'], 0) + line['us']
    return sorted(us, key=us.get, reverse=True)[:COUNT]


def counters(pack, results, name, precision):
    def measure(limit):
        if not shutil.which('ncu'):
            raise Skipped('ncu is not in PATH')
        kernels = longest(results, name, precision)
        if not kernels:
            raise Failed('part 3 has no profile of this program')
        # The second call of each kernel: the first one of a process may load code.
        command = ['ncu', '--clock-control', 'none', '--target-processes', 'all', '--csv', '--kernel-id',
                   f"::regex:^({'|'.join(kernels)})$:2", *(word for section in SECTIONS for word in ('--section', section))]
        output = run([*command, *pack.command(name, precision)], limit, input='RUN 2\nQUIT\n', variables={'DPC_BENCH_GRAPH': 'off'})
        found = {}
        begin = output.find('"ID"')
        for row in csv.DictReader(io.StringIO(output[begin:] if begin >= 0 else '')):
            if row.get('Metric Name'):
                text = f"{row['Metric Value']} {row['Metric Unit']}".strip()
                found.setdefault(row['Kernel Name'], {})[row['Metric Name']] = text
        for kernel in kernels:
            if kernel in found:
                yield {'kernel': kernel, 'counters': found[kernel]}
        if not found:
            raise Failed(f"ncu counted nothing: {''.join(output.strip().splitlines()[-1:])[-300:]}")
    return measure


def items(pack, results):
    return [Item(f'counters {name} {precision}', counters(pack, results, name, precision), 90)
            for name, precision in pack.workloads() if name == 'gpt2_124m' and precision in ('bf16', 'f32')]
