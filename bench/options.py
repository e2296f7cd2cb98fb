#!/usr/bin/env python3
"""Steps and memory of one model under several options.

  bench/options.py MODEL.onnx --of='OPTION ..' --of='OPTION ..'.. [--ranks=N] [--rounds=N] [--steps=N] [--options='OPTION ..']

MODEL is an export of the scoreboard with the batch of all ranks, named after its workload: gpt2_4l_x2.onnx. Each --of
is one program: options of dpc-compile, '' for none. The programs take turns, N steps each, in N rounds
after one that is not counted. Prints of each the median step and that over the first one's, the step that --explain
foresees, over the first one's too, and a rank's memory; then how many of the pairs that differ by 5 % or more the
prediction orders as the clock does. --options are for all programs, such as --topology=host.json.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from turns import STEP, Contender, count_pairs, take_turns  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('model')
    parser.add_argument('--of', dest='options', action='append', required=True)
    parser.add_argument('--ranks', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--steps', type=int, default=3)
    parser.add_argument('--options', dest='common', default='')
    given = parser.parse_args(sys.argv[1:])
    contenders = [Contender(options or '(none)', given.model, given.common.split() + options.split(), given.ranks)
                  for options in given.options]
    take_turns(contenders, given.rounds, given.steps)
    first = contenders[0]
    foreseen = {contender: float(contender.search(STEP)[0]) for contender in contenders}
    ratios = {}
    for contender in contenders:
        # Of each round, as its turns were near each other.
        ratios[contender] = statistics.median(own / base for own, base in zip(contender.times, first.times))
        memory, = contender.search(r'^ *together +([\d.]+ \w+)')
        print(f'{contender.name:40} {statistics.median(contender.times):8.1f} ms  {ratios[contender]:.3f}  foreseen '
              f'{foreseen[contender]:8.1f} ms  {foreseen[contender] / foreseen[first]:.3f}  {memory} a rank')
    ordered, alike = count_pairs(foreseen, ratios)
    print(f'{alike} of {ordered} pairs in the foreseen order')


main()
