#!/usr/bin/env python3
"""Steps as --explain foresees them, beside measured ones.

  bench/foresight.py MODEL.onnx.. [--ranks=1,2] [--rounds=N] [--steps=N] [--options="--topology=host.json"]
                     [--link=BYTES_PER_S,S,FILE]..

A MODEL is an export of the scoreboard, named after its workload: gpt2_4l_x2.onnx. Each is compiled for each number of
ranks as --options say, and again with --tune; the programs take turns, N steps each, in N rounds after one that is not
counted. A --link runs the programs of two ranks over an emulated link too, such as --link=1e9,20e-6,slow.json. They
are planned for by the topology file of `dpc-run --describe=slow.json --comm=local,bandwidth=1GB/s,latency=20us`.
Prints for each program the predicted and the least measured milliseconds of a step, and their ratio; then the mean of
the errors (MAPE) and the worst one, of the programs without and with --tune.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from turns import STEP, Contender, take_turns  # noqa: E402


def judge(model, ranks, given, options, link, errors):
    contenders = [Contender(name, model, [*options, *flags], ranks, link)
                  for name, flags in (('', []), ('tuned', ['--tune']))]
    predicted = [float(each.search(STEP)[0]) for each in contenders]
    take_turns(contenders, given.rounds, given.steps)
    # Both are one program, foreseen in two ways.
    measured = min(min(each.times) for each in contenders)
    where = f'{ranks} ranks' + (f', {link[0] / 1e9:g} GB/s' if link else '')
    for contender, guess in zip(contenders, predicted):
        errors[contender.name].append(abs(guess / measured - 1))
        print(f'{os.path.basename(model):20} {where:18} {contender.name or "by class":8}  {guess:10.2f} of {measured:10.2f} ms'
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
            judge(model, ranks, given, given.options.split(), None, errors)
        for link in given.links:
            bandwidth, latency, file = link.split(',')
            judge(model, 2, given, [f'--topology={file}'], (float(bandwidth), float(latency)), errors)
    for name, values in errors.items():
        print(f'{name or "by class":8}  MAPE {100 * sum(values) / len(values):.1f} %, worst {100 * max(values):.1f} %')


if __name__ == '__main__':
    main()
