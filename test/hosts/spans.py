"""Tests `spans ..`: a run on 3 hosts with 2 ranks each leaves what a run on one host over shared memory leaves."""
import os
import re
import time

import numpy as np

from runs import compare, ends, Failed, interp, left, one_host, read, succeed, training

SPANS = [  # case, options of the compiler for six ranks
    ('gpt2', ['--mesh=data=6']),
    ('gpt2', ['--mesh=data=3,model=2']),
    ('gpt2', ['--mesh=pipe=3,data=2', '--microbatches=4']),
    ('gpt2', ['--mesh=pipe=3,data=2', '--microbatches=4', '--schedule=zero-bubble', '--zero=2']),
    ('gpt2', ['--mesh=data=6', '--zero=3']),
    ('gpt2', ['--mesh=data=6', '--precision=bf16']),
    ('bn_cnn', ['--mesh=data=6']),
    ('dlrm', ['--mesh=data=6']),
]


def check_span(world, case, options, **how):
    program = world.program(case, options)
    world.runs += 1
    out = f'{program}.{world.runs}'
    results = succeed(world.launch(*training(world, case, program, out), **how))
    compare(left(out), one_host(world, case, program))
    note = "note: Gloo listens on ports of its own, which do not know the run's secret" if how.get('comm') == 'gloo' else \
        'note: the ranks are on 3 hosts that share no memory; --comm=sockets connects them, and the ranks of one host share memory\n' \
        if world.isolated else ''
    if note not in results[0][1]:
        raise Failed(f'host 0 does not say "{note}": {results[0][1]}')
    if any(out or error for _, out, error in results[1:]):
        raise Failed(f'hosts without rank 0 print something: {results[1:]}')


def check_inference(world):
    program, inputs = world.program('mlp', ['--mesh=data=6'], infers=True), world.path('x.npy')
    np.save(inputs, np.load(os.path.join(interp.MODELS, 'mlp', 'data.npz'))['x'][:21])
    command = [program, '--input=x=' + inputs]
    world.runner.tool('dpc-run', *command, '--output=logits=' + world.path('one.npy'), '--comm=local')
    succeed(world.launch(*command, '--output=logits=' + world.path('hosts.npy')))
    if read(world.path('one.npy')) != read(world.path('hosts.npy')):
        raise Failed('other bytes')


def memories(program):
    """The memory in common of each rank of the program: the numbers of the files in memory that it maps, by name."""
    ranks = []
    for process in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{process}/cmdline') as words, open(f'/proc/{process}/maps') as maps:
                if words.read().split('\0')[0] != program:
                    continue
                mapped = re.findall(r'\S+ \S+ \S+ \S+ (\d+) +/memfd:(dpc\S*)', maps.read())
        except OSError:
            continue  # the process has ended
        ranks.append({name: number for number, name in mapped})
    return [rank for rank in ranks if 'dpc-data' in rank]


def check_shared_data(world):
    """The ranks of each host map one copy of inflated data, and one memory for their messages."""
    program, data = world.program('gpt2', ['--mesh=data=3,model=2']), world.path('deflated.npz')
    np.savez_compressed(data, **np.load(os.path.join(interp.MODELS, 'gpt2', 'data.npz')))
    processes = world.launch(program, '--data=' + data, '--steps=1000000')
    deadline = time.monotonic() + 30
    while len(memories(program)) < 6:
        if time.monotonic() > deadline or any(process.poll() is not None for process in processes):
            raise Failed('six ranks with data do not run')
        time.sleep(0.05)
    ranks = memories(program)
    world.hosts[0].kill('INT', 'dpc-run')
    ends(processes)
    for name in ('dpc-data', 'dpc'):
        numbers = [rank.get(name) for rank in ranks]
        if sorted(numbers.count(number) for number in set(numbers)) != [2, 2, 2]:
            raise Failed(f'memory {name} of the ranks: {numbers}')


def check_deflated(world):
    program, data = world.program('gpt2', ['--mesh=data=6']), world.path('deflated-once.npz')
    np.savez_compressed(data, **np.load(os.path.join(interp.MODELS, 'gpt2', 'data.npz')))
    out = program + '.deflated'
    succeed(world.launch(*training(world, 'gpt2', program, out, data)))
    compare(left(out), one_host(world, 'gpt2', program))


def spans(world):
    for case, options in SPANS:
        yield f'spans {case} {" ".join(options)}', lambda case=case, options=options: check_span(world, case, options)
    yield 'spans inference mlp', lambda: check_inference(world)
    yield 'spans deflated data', lambda: check_deflated(world)
    if world.isolated:
        yield 'spans memory of a host', lambda: check_shared_data(world)
