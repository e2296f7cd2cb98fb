"""Gate `step`: plays of compiled programs beside traces of their runs. Both have the same functions and operations."""
import json
import os

import numpy as np

from tools import MODELS, expect, test

MLP = os.path.join(MODELS, 'mlp', 'model.onnx')
TRAIN = ['--loss=cross-entropy', '--optimizer=adam,lr=0.01', '--shape=x:128x16']
STEPS = 2
# Mesh and options, the number of ranks, and options of the run.
PROGRAMS = [
    ('--mesh=data=1', 1),
    ('--mesh=data=2', 2),
    ('--mesh=data=2 --overlap=off', 2),
    ('--mesh=data=2 --grad-reduce=bf16', 2),
    ('--mesh=data=2 --clip-grad-norm=1 --zero=2', 2),
    ('--mesh=data=2 --zero=1 --first-bucket-mib=0.001 --bucket-mib=0.001', 2),
    ('--mesh=data=2 --zero=3 --microbatches=4', 2),
    ('--mesh=data=2 --remat=full --microbatches=2', 2),
    ('--mesh=data=2 --precision=bf16', 2),
    ('--mesh=model=2', 2),
    ('--mesh=data=2,model=2', 4),
    ('--mesh=data=4,model=2', 8),
    ('--mesh=pipe=2 --microbatches=4', 2),
    ('--mesh=pipe=2 --microbatches=4 --schedule=gpipe', 2),
    ('--mesh=pipe=2 --microbatches=4 --schedule=interleaved', 2),
    ('--mesh=pipe=2 --microbatches=4 --schedule=zero-bubble', 2),
    ('--mesh=pipe=2,data=2 --microbatches=2 --zero=2', 4),
    ('--mesh=pipe=3,data=2 --microbatches=2', 6),
    ('--mesh=data=2 --zero=1', 2, '--comm=sockets'),
    ('--mesh=pipe=2 --microbatches=4', 2, '--comm=sockets'),
]


def events(path, rank, step):
    """What rank `rank` does in a step, in order: functions and operations, with what identifies them."""
    with open(path) as file:
        found = [event for event in json.load(file)['traceEvents']
                 if event['ph'] == 'X' and event['pid'] == rank and event['args']['step'] == step]
    return [(event['name'], *(event['args'].get(key) for key in ('In msg nelems', 'dtype', 'buffer', 'Process Group Name')))
            for event in found]


def plays_like_it_runs(flags, ranks, *run):
    def check(tools):
        program, report, plan, trace = (tools.path(name) for name in ('program', 'report.json', 'plan.trace.json', 'run.json'))
        for file in (plan, report):
            tools.good('dpc-compile', MLP, *TRAIN, *flags.split(), '-o', program, f'--report={file}')
        data = np.random.default_rng(1)
        np.savez(tools.path('data.npz'), x=data.random((256, 16), dtype=np.float32), label=data.integers(0, 10, 256))
        tools.good('dpc-run', program, f'--data={tools.path("data.npz")}', f'--steps={STEPS}', f'--trace={trace}', *run)
        with open(report) as file:
            timelines = json.load(file)['step']['timelines']
        played = sorted(rank for timeline in timelines for rank in timeline['ranks'])
        expect(played == list(range(ranks)), f'the play has the ranks {played}')
        for timeline in timelines:
            first = timeline['ranks'][0]
            planned = events(plan, first, 1)
            for rank in timeline['ranks']:
                ran = events(trace if rank == 0 else trace.replace('.json', f'.rank{rank}.json'), rank, STEPS)
                same = len(planned) == len(ran) and next((i for i, pair in enumerate(zip(planned, ran)) if pair[0] != pair[1]), -1)
                expect(same == -1, f'rank {rank}, event {same}: {planned[same:][:1]} and {ran[same:][:1]} of {len(planned)} and {len(ran)}')
    return check


for program in PROGRAMS:
    function = plays_like_it_runs(*program)
    function.__name__ = ' '.join([program[0], *program[2:]])
    test('step')(function)


def played(tools, *flags):
    tools.good('dpc-compile', MLP, *TRAIN, '-o', 'out', '--stop-after=exec', f'--report={tools.path("r.json")}', *flags)
    with open(tools.path('r.json')) as file:
        return json.load(file)['step']


@test('step')
def equal_inputs_give_equal_times(tools):
    expect(played(tools, '--mesh=data=2') == played(tools, '--mesh=data=2'), 'two plays differ')


@test('step')
def large_meshes_share_timelines(tools):
    hosts = f'--topology={os.path.join(os.path.dirname(MODELS), "..", "topologies", "h100-roce.json")}'
    step = played(tools, '--mesh=pipe=2,data=64', '--microbatches=2', '--target=cuda', hosts)
    counts = [len(timeline['ranks']) for timeline in step['timelines']]
    expect(counts == [64, 64], f'timelines of {counts} ranks')


@test('step')
def tuned_kernels_are_kept(tools):
    cache = f'--cache={tools.path("cache")}'
    times = [played(tools, '--mesh=data=2', '--tune', cache)['seconds'] for _ in range(2)]
    expect(times[0] == times[1], f'kept times give {times} s')
    expect(times[0] != played(tools, '--mesh=data=2', cache)['seconds'], 'measured times are those of the model')


@test('step')
def slow_ranks_and_levels_lengthen_a_step(tools):
    flags = ['--mesh=data=2', '--zero=0']
    plain = played(tools, *flags)
    slow = played(tools, *flags, '--slow=1:2')
    expect([timeline['ranks'] for timeline in slow['timelines']] == [[0], [1]], f'{slow["timelines"]}')
    expect(slow['timelines'][0]['waited_for_ranks_s'] > 0 and slow['seconds'] > plain['seconds'], f'{plain} and {slow}')
    linked = played(tools, *flags, '--slow-link=shared memory:0.1')
    expect(linked['seconds'] > plain['seconds'], f'{plain} and {linked}')


@test('step')
def bad_requests_have_one_line(tools):
    compile = ['dpc-compile', MLP, *TRAIN, '-o', 'out']
    tools.refused(2, '--report=r.txt: the name of a report ends with .html, .json or .trace.json', *compile, '--report=r.txt')
    tools.refused(2, '--report needs the level exec', *compile, '--report=r.json', '--stop-after=placed')
    tools.refused(5, '/nowhere/r.json: No such file', *compile, '--report=/nowhere/r.json')
    tools.refused(1, '-o and --report both write', *compile[:-1], 'r.json', '--report=r.json')
    tools.refused(1, 'r.trace.json: a program that infers has no step', 'dpc-compile', MLP, '--shape=x:24x16', '-o', 'out',
                  '--report=r.trace.json')
    tools.refused(1, '--tune: this machine cannot run kernels for --target=cuda', *compile, '--tune', '--target=cuda')
    for flags, code, text in (('--slow=1:0', 2, "--slow: '1:0' is not RANK:X with X above 0"), ('--slow=x:2', 2, "'x' is not the number of a rank"),
                              ('--slow=7:2', 1, 'there is no rank 7, only ranks 0 to 1'),
                              ('--slow-link=rack:2', 1, "the machine 'shared memory' has no level 'rack', only 'shared memory'")):
        tools.refused(code, text, *compile, '--mesh=data=2', f'--report={tools.path("r.json")}', flags)
    tools.refused(2, '--tune needs the level exec', *compile, '--tune', '--stop-after=local')
