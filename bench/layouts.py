#!/usr/bin/env python3
"""Layouts as the compiler's model orders them, against their measured steps, on two ranks.

  bench/layouts.py MODEL.onnx.. [--rounds=N] [--steps=N] [--only=WORD] [--options='OPTION ..']

A MODEL is an export of the scoreboard with the batch of two ranks, named after its workload: gpt2_4l_x2.onnx. Each is
compiled with the layouts of LAYOUTS; the programs take turns, N steps each, in N rounds after one that is not counted.
Prints, fastest by the model first, the step that --explain foresees and the median measured, both over those of the
chosen layout of data=2; then how many of the pairs that differ by 5 % or more the prediction orders as the clock does.
--options are for all programs, such as --topology=host.json.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from turns import STEP, Contender, count_pairs, take_turns  # noqa: E402

# Megatron's cuts, and others that nobody would choose but people may ask for: of each weight of a layer the first,
# the last, or the dimension of the residual stream.
LAYOUTS = {
    'gpt2_4l': {
        'megatron': 'b.*.a.qkv.weight=model,- b.*.a.o.weight=-,model b.*.m.0.weight=model,- b.*.m.2.weight=-,model '
                    'e.weight=model,- p.weight=-,-',
        'first': 'b.*.a.*.weight=model,- b.*.m.*.weight=model,- e.weight=model,- p.weight=-,-',
        'last': 'b.*.a.*.weight=-,model b.*.m.*.weight=-,model e.weight=-,model p.weight=-,model',
        'stream': 'b.*.a.qkv.weight=-,model b.*.a.o.weight=model,- b.*.m.0.weight=-,model b.*.m.2.weight=model,- '
                  'e.weight=-,model p.weight=-,model',
        'whole head': 'b.*.a.qkv.weight=model,- b.*.a.o.weight=-,model b.*.m.0.weight=model,- b.*.m.2.weight=-,model '
                      'e.weight=-,- p.weight=-,-'},
    'llama': {
        'megatron': 'b.*.[qkv].weight=model,- b.*.o.weight=-,model b.*.[gu].weight=model,- b.*.dn.weight=-,model '
                    'e.weight=model,- head.weight=model,-',
        'first': 'b.*.[qkvogu].weight=model,- b.*.dn.weight=model,- e.weight=model,- head.weight=model,-',
        'last': 'b.*.[qkvogu].weight=-,model b.*.dn.weight=-,model e.weight=-,model head.weight=-,model',
        'stream': 'b.*.[qkvgu].weight=-,model b.*.o.weight=model,- b.*.dn.weight=model,- e.weight=-,model '
                  'head.weight=-,model',
        'whole head': 'b.*.[qkv].weight=model,- b.*.o.weight=-,model b.*.[gu].weight=model,- b.*.dn.weight=-,model '
                      'e.weight=-,- head.weight=-,-'},
}
LAYOUTS['bert'] = {name: requests + ' tr.weight=-,-' for name, requests in LAYOUTS['gpt2_4l'].items()}


def judge(model, rounds, steps, only, common):
    workload = os.path.basename(model).split('_x')[0]
    layouts = {'data=2': ['--mesh=data=2'], 'model=2': ['--mesh=model=2']}
    for name, requests in LAYOUTS[workload].items():
        if only in name:
            layouts[name] = ['--mesh=model=2', *(f'--shard={request}' for request in requests.split())]
    contenders = [Contender(name, model, common + options) for name, options in layouts.items()]
    for contender in contenders:
        contender.modelled = float(contender.search(STEP)[0])
        contender.sent, = contender.search(r'moving [\d.]+ ms, a rank sends ([^\n]*)')
    take_turns(contenders, rounds, steps)
    base = contenders[0]
    measured = {contender: statistics.median(contender.times) / statistics.median(base.times)
                for contender in contenders}
    modelled = {contender: contender.modelled / base.modelled for contender in contenders}
    print(f'{workload}, 2 ranks, data=2: {statistics.median(base.times):.1f} ms, modelled {base.modelled:.1f} ms')
    for contender in sorted(contenders, key=modelled.get):
        print(f'  {contender.name:12} modelled {modelled[contender]:.3f}  measured {measured[contender]:.3f}  '
              f'(least {min(contender.times):.1f} ms)  a rank sends {contender.sent}')
    ordered, alike = count_pairs(modelled, measured)
    print(f'  {alike} of {ordered} pairs in the modelled order', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('models', nargs='+')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--steps', type=int, default=4)
    parser.add_argument('--only', default='')
    parser.add_argument('--options', dest='common', default='')
    options = parser.parse_args()
    for model in options.models:
        judge(model, options.rounds, options.steps, options.only, options.common.split())


main()
