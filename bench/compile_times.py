#!/usr/bin/env python3
"""CPU seconds and memory of compiling large graphs on one core, beside the bounds that the project sets itself.

  bench/compile_times.py [--only=WORD] [--rounds=N]    tools: $DPC_BIN, or build/release/bin

The graphs are those of test/scale, and timm's densenet121 (growth 8, 64 x 64) if torch and timm are installed. Each is compiled
N times in turns, without a cache, up to a linked program; the least of the times counts.
"""
import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, 'test', 'scale'))
import graphs  # noqa: E402

LIMIT = 600
IN_GRAPH = ['--loss=output:loss', '--optimizer=adam,lr=0.01']


def densenet(path, growth):
    import timm
    import torch
    model = timm.create_model('densenet121', growth_rate=growth, num_classes=10).train()
    torch.onnx.export(model, (torch.zeros(8, 3, 64, 64),), path, dynamo=False, do_constant_folding=False,
                      training=torch.onnx.TrainingMode.TRAINING)


# name, graph, size, options, most seconds, most MiB (None: no bound)
CASES = [
    ('64 columns, model=2', graphs.columns, 64, [*IN_GRAPH, '--mesh=model=2'], 10, 1024),
    ('64 columns, data=2,model=2', graphs.columns, 64, [*IN_GRAPH, '--mesh=data=2,model=2'], 10, 1024),
    ('3,200 parameters', graphs.chain, 1600, IN_GRAPH, 30, None),
    ('1,024 bags', graphs.bags, 1024, [*IN_GRAPH, '--mesh=data=2'], 10, None),
    ('densenet121, model=2', densenet, 8, ['--loss=cross-entropy', '--optimizer=sgd,lr=0.1', '--mesh=model=2'], 60, 2048),
]


def compile_once(tools, model, options, program):
    """(CPU seconds, MiB, what was printed if it failed)"""
    command = ['timeout', str(LIMIT), os.path.join(tools, 'dpc-compile'), model, *options, '--cache=off', '-o', program]
    if hasattr(os, 'sched_getaffinity'):
        command = ['taskset', '-c', str(min(os.sched_getaffinity(0))), *command]
    with tempfile.TemporaryFile('w+') as printed:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=printed, stdin=subprocess.DEVNULL)
        status, usage = os.wait4(process.pid, 0)[1:]
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        problem = printed.read().strip()[-300:] if process.returncode else ''
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024, problem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', metavar='WORD', default='', help='only cases whose name has WORD')
    parser.add_argument('--rounds', metavar='N', type=int, default=2, help='compilations of each (default 2)')
    options = parser.parse_args()
    tools = os.environ.get('DPC_BIN', os.path.join(ROOT, 'build', 'release', 'bin'))
    cases = [case for case in CASES if options.only in case[0]]
    missing = [name for name in ('torch', 'timm') if not importlib.util.find_spec(name)]
    if missing and any(case[1] is densenet for case in cases):
        print(f"without densenet121: {' and '.join(missing)} not installed")
        cases = [case for case in cases if case[1] is not densenet]
    found = {case[0]: [] for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for number, (name, graph, size, flags, _, _) in enumerate(cases):
                model = os.path.join(folder, f'{number}.onnx')
                if not os.path.exists(model):
                    graph(model, size)
                found[name].append(compile_once(tools, model, flags, os.path.join(folder, 'program')))
    print(f'{"graph":30}{"seconds":>9}{"bound":>7}{"MiB":>7}{"bound":>7}')
    for name, _, _, _, seconds, mebibytes in cases:
        problems = [problem for _, _, problem in found[name] if problem]
        if problems:
            print(f'{name:30}  {problems[0]}')
            continue
        print(f'{name:30}{min(each[0] for each in found[name]):9.1f}{seconds:7}'
              f'{max(each[1] for each in found[name]):7}{mebibytes or "-":>7}')


if __name__ == '__main__':
    main()
