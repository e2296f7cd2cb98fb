"""Gate `step`: plans that are chosen by the estimate of a step, on machines of topology files."""
import json
import os
import re

import numpy as np

from tools import MODELS, expect, test

OPTIONS = ['--loss=cross-entropy', '--optimizer=adam,lr=0.01']
SHAPES = {'mlp': ['--shape=x:128x16'], 'gpt2': [], 'bn_cnn': ['--shape=x:8x3x16x16']}


def machine(tools, **level):
    """A topology file of 8 slow devices with wires between them."""
    return '--topology=' + tools.write('machine.json', json.dumps({
        'name': 'wires', 'device': {'memory_GiB': 8, 'memory_GB_per_s': 10, 'TFLOP_per_s': {'f32': 1e-4, 'tf32': 2e-4, 'f64': 1e-4, 'bf16': 1e-4}},
        'levels': [{'name': 'wires', 'size': 8, 'GB_per_s': 0.01, 'start_us': 0.1, **level}]}))


def compiled(tools, model, *flags):
    """The page and the note of the search: (milliseconds as estimated, as played, changed options, plans tried)"""
    page, notes = tools.good('dpc-compile', os.path.join(MODELS, model, 'model.onnx'), *OPTIONS, *SHAPES[model], '--stop-after=exec',
                             '-o', tools.path('program'), '--explain=all', *flags)
    played = float(re.search(r'^ONE STEP \(MODEL\)\n.*\n +([\d.]+) ms', page, re.M)[1])
    note = re.search(r'a step takes ([\d.]+) ms(?: with (.*), and [\d.]+ ms without)?, as estimated; (\d+) plan', notes)
    return (float(note[1]), played, note[2] or '', int(note[3])) if note else (None, played, '', 0)


def tensors(path):
    """The bytes of each tensor in a file of safetensors."""
    with open(path, 'rb') as file:
        content = file.read()
    start = 8 + int.from_bytes(content[:8], 'little')
    return {name: content[start + entry['data_offsets'][0]:start + entry['data_offsets'][1]]
            for name, entry in json.loads(content[8:start]).items() if name != '__metadata__'}


def agrees(model, flags):
    def check(tools):
        estimated, played, _, _ = compiled(tools, model, machine(tools), *flags.split())
        expect(estimated and abs(estimated / played - 1) < 0.005, f'{estimated} ms as estimated, {played} ms as played')
    return check


for model in SHAPES:
    for flags in ('--mesh=data=2', '--mesh=data=8', '--mesh=data=2 --zero=3', '--mesh=data=2 --microbatches=2 --zero=2',
                  '--mesh=data=2,model=2', '--mesh=data=2 --precision=bf16', '--mesh=data=8 --overlap=off'):
        function = agrees(model, flags)
        function.__name__ = f'the estimate of {model} {flags} is the play'
        test('step')(function)


@test('step')
def estimates_know_how_much_memory_a_program_uses(tools):
    """The share of the memory's rate is that of all its memory, so the estimate must know how much that is."""
    share = {'MB': [[0.01, 1], [100, 0.1]]}
    host = tools.write('caches.json', json.dumps({
        'name': 'caches', 'device': {'memory_GiB': 8, 'memory_GB_per_s': 1, 'TFLOP_per_s': {'f32': 1, 'f64': 1},
                                     'efficiency': {kind: share for kind in ('elementwise', 'update', 'copy', 'product')}},
        'levels': [{'name': 'wires', 'size': 8, 'GB_per_s': 1}]}))
    for batch in (64, 4096):
        for flags in (['--mesh=data=2'], ['--mesh=data=2', '--microbatches=2'], ['--mesh=data=8']):
            page, notes = tools.good('dpc-compile', os.path.join(MODELS, 'mlp', 'model.onnx'), *OPTIONS, f'--shape=x:{batch}x16', *flags,
                                     '--stop-after=exec', '-o', tools.path('program'), '--explain=all', f'--topology={host}')
            played = float(re.search(r'^ONE STEP \(MODEL\)\n.*\n +([\d.]+) ms', page, re.M)[1])
            estimated = float(re.search(r'a step takes ([\d.]+) ms', notes)[1])
            expect(abs(estimated / played - 1) < 0.05, f'{batch} samples, {flags}: {estimated} ms as estimated, {played} ms as played')


@test('step')
def slow_wires_make_small_buckets(tools):
    _, played, how, tried = compiled(tools, 'gpt2', '--mesh=data=8', machine(tools))
    expect('--first-bucket-mib=0.0' in how and tried > 2, f'{tried} plans, changes: {how}')
    # The note names options that give the same program without the search.
    again = compiled(tools, 'gpt2', '--mesh=data=8', machine(tools), *how.split())
    expect(again[1:3] == (played, ''), f'{played} ms, and {again} with {how}')
    default = compiled(tools, 'gpt2', '--mesh=data=8', machine(tools), '--bucket-mib=25', '--zero=0')
    expect(default[1] > 1.05 * played, f'{played} ms, and {default[1]} ms with the default')


@test('step')
def slow_starts_make_large_buckets(tools):
    # One stream, in which each collective takes its time to start after the one before.
    _, _, how, tried = compiled(tools, 'gpt2', '--mesh=data=8', machine(tools, start_us=20000), '--target=cuda')
    expect('bucket' not in how and tried > 2, f'{tried} plans, changes: {how}')


@test('step')
def given_sizes_and_divisions_stay(tools):
    for flags in (['--bucket-mib=25', '--zero=0'], ['--first-bucket-mib=1', '--zero=1']):
        _, _, how, tried = compiled(tools, 'gpt2', '--mesh=data=8', machine(tools), *flags)
        expect(not how and tried <= 1, f'{flags}: {tried} plans, changes: {how}')
    _, _, how, tried = compiled(tools, 'gpt2', '--mesh=data=8', machine(tools), '--zero=2')
    expect(tried > 1 and '--zero' not in how, f'--zero=2: {tried} plans, changes: {how}')


@test('step')
def one_rank_has_no_choice(tools):
    expect(compiled(tools, 'gpt2', machine(tools))[3] == 0, 'plans are tried for one rank')


@test('step')
def chosen_plans_keep_values(tools):
    data = np.random.default_rng(1)
    np.savez(tools.path('data.npz'), x=data.random((256, 16), dtype=np.float32), label=data.integers(0, 10, 256))
    saved = []
    for flags in ([], [machine(tools)]):
        notes = tools.good('dpc-compile', os.path.join(MODELS, 'mlp', 'model.onnx'), *OPTIONS, *SHAPES['mlp'], '--mesh=data=2',
                           '--sums=ordered', '-o', tools.path('program'), *flags)[1]
        expect(('a step takes' in notes) == bool(flags), f'{flags}: {notes}')
        tools.good('dpc-run', tools.path('program'), f'--data={tools.path("data.npz")}', '--steps=4', f'--save-params={tools.path("p")}')
        saved.append(tensors(tools.path('p')))
    expect(len(saved[0]) == 6 and saved[0] == saved[1], 'the parameters differ')


def page(tools, model, *flags):
    return tools.good('dpc-compile', os.path.join(MODELS, model, 'model.onnx'), *flags, '--stop-after=exec', '-o', tools.path('program'),
                      '--explain')[0]


@test('step')
def the_page_begins_with_rates_memory_and_bubble(tools):
    rate = r'^ +[\d.]+ ms, (\d+) samples/s(?:, (\d+) tokens/s)?, [\d.]+ % of the'
    tokens = page(tools, 'gpt2', *OPTIONS, '--mesh=pipe=2', '--microbatches=4')
    samples, found = map(int, re.search(rate, tokens, re.M).groups())
    expect(abs(found - 12 * samples) <= 12, f'{samples} samples and {found} tokens of 12 a sample')
    expect('(bubble)' in tokens, f'no bubble: {tokens[:900]}')
    memory = re.search(r'^  (\S+ \S+) a rank of stage 0: activations ', tokens, re.M)
    expect(memory and re.search(rf'MEMORY OF A RANK, STAGE 0\n(?:  .*\n)*  together +{memory[1]}\n', tokens), f'{memory}: {tokens}')
    features = page(tools, 'mlp', *OPTIONS, *SHAPES['mlp'])
    expect(re.search(rate, features, re.M)[2] is None and '(bubble)' not in features, features[:900])


@test('step')
def repeated_layers_are_one_row(tools):
    table = page(tools, 'llama', '--loss=output:loss', '--optimizer=sgd,lr=0.1').split('RESTORED PARAMETERS\n')[1].split('\n\n')[0]
    rows = [re.split(r'\s{2,}', line.strip()) for line in table.splitlines()[1:]]
    expect(len(rows) == 8 and [row[1] for row in rows] == ['2'] * 7 + ['1'], table)


@test('step')
def products_have_the_rate_of_tf32(tools):
    rates = [float(re.search(r'compute: product +([\d.]+)', page(tools, 'gpt2', *OPTIONS, '--target=cuda', f'--precision={precision}',
                                                                 machine(tools)))[1]) for precision in ('f32', 'tf32')]
    expect(abs(rates[0] / rates[1] - 2) < 0.05, f'{rates} ms')
