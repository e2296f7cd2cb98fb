#!/usr/bin/env python3
"""Steps and memory of one model under several options.

  bench/options.py MODEL.onnx --of='OPTION ..' --of='OPTION ..'.. [--ranks=N] [--rounds=N] [--steps=N]

MODEL is an export of the scoreboard with the batch of all ranks, named after its workload: gpt2_4l_x2.onnx. Each --of
is one program: options of dpc-compile, '' for none. The programs take turns, N steps each, in N rounds
after one that is not counted. Prints of each the median step and that over the first one's, and a rank's memory.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from turns import Contender, take_turns  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('model')
    parser.add_argument('--of', dest='options', action='append', required=True)
    parser.add_argument('--ranks', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--steps', type=int, default=3)
    given = parser.parse_args(sys.argv[1:])
    contenders = [Contender(options or '(none)', given.model, options.split(), given.ranks) for options in given.options]
    take_turns(contenders, given.rounds, given.steps)
    first = contenders[0]
    for contender in contenders:
        # Of each round, as its turns were near each other.
        ratio = statistics.median(own / base for own, base in zip(contender.times, first.times))
        memory, = contender.search(r'^ *together +([\d.]+ \w+)')
        print(f'{contender.name:40} {statistics.median(contender.times):8.1f} ms  {ratio:.3f}  {memory} a rank')


main()
