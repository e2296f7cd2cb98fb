#!/usr/bin/env python3
"""Steps as --explain foresees them, beside measured ones.

  bench/foresight.py MODEL.onnx.. [--ranks=1,2] [--rounds=N] [--steps=N] [--options="OPTION .."] [--link=BANDWIDTH,LATENCY]..

A MODEL is an export of the scoreboard, named after its workload: gpt2_4l_x2.onnx. For each number of ranks, the host is
measured (`dpc-run --describe`), since a shared host is not as fast in one minute as in the next. The model is compiled
for this host, and again with --tune; the programs take turns, N steps each, in N rounds after one that is not counted.
A --link, such as --link=1GB/s,20us, does the same for two ranks over an emulated link. Prints for each program the
predicted and the least measured milliseconds of a step, and their ratio; then the mean of the errors (MAPE) and the
worst one, of the programs without and with --tune.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from turns import ROOT, STEP, Contender, take_turns  # noqa: E402


UNITS = {'GB/s': 1e9, 'MB/s': 1e6, 'ms': 1e-3, 'us': 1e-6}


def in_units(text):
    """'20us' in seconds, '1GB/s' in bytes a second."""
    unit = next(unit for unit in UNITS if text.endswith(unit))
    return float(text.removesuffix(unit)) * UNITS[unit]


def judge(model, ranks, given, link, errors):
    with tempfile.NamedTemporaryFile(suffix='.json') as file:
        bandwidth, latency = link.split(',') if link else (None, None)
        comm = [f'--comm=local,bandwidth={bandwidth},latency={latency}'] if link else []
        subprocess.run([os.path.join(ROOT, 'build/release/bin/dpc-run'), f'--describe={file.name}', '-n', str(ranks), *comm], check=True)
        contenders = [Contender(name, model, [f'--topology={file.name}', *given.options.split(), *flags], ranks,
                                (in_units(bandwidth), in_units(latency)) if link else None)
                      for name, flags in (('', []), ('tuned', ['--tune']))]
    predicted = [float(each.search(STEP)[0]) for each in contenders]
    take_turns(contenders, given.rounds, given.steps)
    # Both are one program, foreseen in two ways.
    measured = min(min(each.times) for each in contenders)
    for contender, guess in zip(contenders, predicted):
        errors[contender.name].append(abs(guess / measured - 1))
        print(f'{os.path.basename(model):20} {ranks} ranks {link or "":12} {contender.name or "by class":8}  {guess:10.2f} of {measured:10.2f} ms'
              f'  {guess / measured:.2f}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('models', nargs='+', metavar='MODEL.onnx')
    parser.add_argument('--ranks', default='1,2')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--steps', type=int, default=3)
    parser.add_argument('--options', default='', help='options of dpc-compile, separated by spaces')
    parser.add_argument('--link', dest='links', action='append', default=[])
    given = parser.parse_args()
    errors = {'': [], 'tuned': []}
    for model in given.models:
        for ranks in map(int, given.ranks.split(',')):
            judge(model, ranks, given, None, errors)
        for link in given.links:
            judge(model, 2, given, link, errors)
    for name, values in errors.items():
        print(f'{name or "by class":8}  MAPE {100 * sum(values) / len(values):.1f} %, worst {100 * max(values):.1f} %')


if __name__ == '__main__':
    main()
