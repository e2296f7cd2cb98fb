"""How `export.py` asks for each model to be compiled: meshes, microbatches, requested layouts, divided state."""
import random
import re
from collections import namedtuple

# name: the axes of the mesh, those that cut the batch, the other flags
PLAIN = [
    ('data1', 'data=1', 'data', []),
    ('f32', 'data=1', 'data', ['--precision=f32']),
    ('data2-f32', 'data=2', 'data', ['--precision=f32', '--zero=2']),
    ('data2', 'data=2', 'data', []),
    *((f'model{n}', f'model={n}', '', []) for n in (2, 3, 4, 8)),
    ('data2-model2', 'data=2,model=2', 'data', []),
    ('data2-model4', 'data=2,model=4', 'data', []),
    ('a2-b2', 'a=2,b=2', '', []),
    ('a2-b3', 'a=2,b=3', '', []),
    ('data2-a2-b2', 'data=2,a=2,b=2', 'data', []),
    # The batch over two axes, over an axis of another name, and over the last one.
    ('batch-two', 'hosts=2,cores=2', 'hosts,cores', ['--batch-axes=hosts,cores']),
    ('batch-inner', 'a=2,b=2', 'b', ['--batch-axes=b']),
    ('batch-model', 'data=2,model=2', 'model', ['--batch-axes=model']),
    ('model2-micro2', 'model=2', '', ['--microbatches=2']),
    ('data2-micro2', 'data=2', 'data', ['--microbatches=2']),
    ('data2-model2-micro4', 'data=2,model=2', 'data', ['--microbatches=4']),
    ('a2-b2-micro2', 'a=2,b=2', '', ['--microbatches=2']),
]
SMALL_BUCKETS = ['--bucket-mib=0.004', '--first-bucket-mib=0.002']
DIVIDED = [
    *((f'data2-zero{s}', 'data=2', 'data', [f'--zero={s}']) for s in (1, 2, 3)),
    *((f'data4-zero{s}', 'data=4', 'data', [f'--zero={s}', *SMALL_BUCKETS]) for s in (1, 2, 3)),
    *((f'data2-model2-zero{s}', 'data=2,model=2', 'data', [f'--zero={s}']) for s in (1, 2, 3)),
    ('data2-model2-zero3-model', 'data=2,model=2', 'data', ['--zero=3:model']),
    ('replica2-data2-zero3-data', 'replica=2,data=2', 'replica,data', ['--zero=3:data']),
    ('replica2-data2-zero2-replica', 'replica=2,data=2', 'replica,data', ['--zero=2:replica']),
    ('data2-zero2-micro2', 'data=2', 'data', ['--zero=2', '--microbatches=2']),
    ('data2-model2-zero3-micro2', 'data=2,model=2', 'data', ['--zero=3', '--microbatches=2', *SMALL_BUCKETS]),
    ('data2-zero3-resume', 'data=2', 'data', ['--zero=3']),
]
# The kit's pipelines, the stages in another place of the mesh, and several parts of the model per stage.
PIPED = [
    ('pipe2-gpipe', 'pipe=2', '', ['--microbatches=2', '--schedule=gpipe']),
    ('pipe2-1f1b', 'pipe=2', '', ['--microbatches=2', '--schedule=1f1b']),
    ('data2-pipe2', 'data=2,pipe=2', 'data', ['--microbatches=2', '--schedule=1f1b']),
    ('pipe2-data2', 'pipe=2,data=2', 'data', ['--microbatches=2', '--schedule=1f1b', '--zero=2']),
    ('pipe2-zb', 'pipe=2', '', ['--microbatches=4', '--schedule=zero-bubble']),
    ('pipe2-zbv', 'pipe=2', '', ['--microbatches=4', '--schedule=zero-bubble', '--chunks=2']),
    ('pipe2-interleaved', 'pipe=2', '', ['--microbatches=4', '--schedule=interleaved']),
    ('model2-pipe2', 'model=2,pipe=2', '', ['--microbatches=2', '--schedule=gpipe']),
    ('data2-model2-pipe2', 'data=2,model=2,pipe=2', 'data', ['--microbatches=2', '--schedule=1f1b']),
]
# What the backward pass computes again; of `--remat=` without a value, nodes that are drawn.
REPEATED = [
    ('remat', 'data=1', 'data', ['--remat=full']),
    ('data2-remat', 'data=2', 'data', ['--remat=full']),
    ('model4-remat', 'model=4', '', ['--remat=full']),
    ('data2-micro2-remat', 'data=2', 'data', ['--microbatches=2', '--remat=full']),
    ('data2-zero1-remat-some', 'data=2', 'data', ['--zero=1', '--remat=']),
    ('data2-zero2-micro2-remat', 'data=2', 'data', ['--zero=2', '--microbatches=2', '--remat=full']),
    ('data4-zero3-remat', 'data=4', 'data', ['--zero=3', '--remat=full', *SMALL_BUCKETS]),
    ('data2-model2-zero3-remat-some', 'data=2,model=2', 'data', ['--zero=3', '--remat=']),
    ('data4-model2-zero3-micro2-remat', 'data=4,model=2', 'data', ['--zero=3', '--microbatches=2', '--remat=full']),
]
# What is asked for is drawn from the seed and the names of model and configuration.
ASKED = [
    *((f'shard-model2-{i}', 'model=2', '', []) for i in (1, 2)),
    *((f'shard-model{n}', f'model={n}', '', []) for n in (3, 4)),
    *((f'shard-data2-model2-{i}', 'data=2,model=2', 'data', []) for i in (1, 2, 3)),
    *((f'shard-a2-b2-{i}', 'a=2,b=2', '', []) for i in (1, 2)),
    ('shard-batch-inner', 'a=2,b=2', 'b', ['--batch-axes=b']),
    ('shard-data2-a2-b2', 'data=2,a=2,b=2', 'data', []),
    ('shard-data2-model4', 'data=2,model=4', 'data', []),
    ('shard-data2-model2-micro2', 'data=2,model=2', 'data', ['--microbatches=2']),
    ('shard-data2-zero2', 'data=2', 'data', ['--zero=2']),
    ('shard-data2-model2-zero3', 'data=2,model=2', 'data', ['--zero=3']),
]

# What a request can name: the shape, and whether the first dimension counts samples.
Named = namedtuple('Named', 'name shape batched')


def draw(rng, named, axes, batch, kind):
    """A --shard= for `named` on the mesh `axes`, an extent by name, of which `batch` cut the samples."""
    entries = [[] for _ in named.shape]
    if named.batched and (kind == 'input' or rng.random() < 0.7):
        entries[0] = list(batch)
    for axis in axes:
        # Parameters may be cut over the axes of the batch as well; samples lie whole where they are not as delivered.
        if (axis in batch and (kind != 'parameter' or rng.random() < 0.7)) or rng.random() < 0.3:
            continue
        free = [i for i, extent in enumerate(named.shape) if extent >= axes[axis] and not (i == 0 and named.batched)]
        if free:
            entries[rng.choice(free)].append(axis)
    return f'--shard={named.name}=' + ','.join('+'.join(entry) or '-' for entry in entries)


def draw_requests(rng, parameters, inputs, nodes, axes, batch):
    def some(named, most):
        plain = [each for each in named if each.shape and re.fullmatch(r'[\w./:-]+', each.name)]
        return rng.sample(plain, min(most, len(plain)))
    return [draw(rng, each, axes, batch, kind)
            for kind, named, most in (('parameter', parameters, 4), ('input', inputs, 1), ('node', nodes, 3))
            for each in some(named, most)]


def draw_repeated(rng, nodes):
    """Globs of --remat for some of `nodes`; of those that take all of a kind, where no node is known by name."""
    plain = [each.name for each in nodes if re.fullmatch(r'[\w./:-]+', each.name)]
    return ','.join(rng.sample(plain, min(5, len(plain)))) or 'full'


def configurations(seed, parameters, inputs, nodes, has_state, has_rows):
    """The entry `configs` of a case, for a model with these `Named` parameters, inputs and nodes. One that `has_state`
    which the samples move has a reference of its own for each number of microbatches; one that `has_rows`, a parameter
    that the export repeated for each sample, may refuse them."""
    result = []
    for name, mesh, batch, flags in PLAIN + DIVIDED + PIPED + REPEATED + ASKED:
        axes = {axis: int(extent) for axis, extent in (each.split('=') for each in mesh.split(','))}
        precision = next((flag.split('=')[1] for flag in flags if flag.startswith('--precision=')), 'f64')
        flags = [f'--precision={precision}', f'--mesh={mesh}',
                 *(flag for flag in flags if not flag.startswith('--precision='))]
        if name.startswith('shard'):
            flags += draw_requests(random.Random(f'{seed} {name}'), parameters, inputs, nodes, axes,
                                   batch.split(',') if batch else [])
        if '--remat=' in flags:
            repeated = draw_repeated(random.Random(f'{seed} {name}'), nodes)
            flags = [f'--remat={repeated}' if flag == '--remat=' else flag for flag in flags]
        ranks = 1
        for extent in axes.values():
            ranks *= extent
        config = {'name': name, 'flags': flags, 'ranks': ranks, 'precision': precision}
        if name.endswith('resume'):
            config['resume'] = True
        parts = [flag.split('=')[1] for flag in flags if flag.startswith('--microbatches=')]
        if parts and has_state:
            config['ref'] = 'micro' + parts[0]
        if parts and has_rows:
            config['may_refuse'] = True
        result.append(config)
    return result
