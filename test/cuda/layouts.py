"""Models trained on several ranks, over NCCL and staged through the hosts; graphs, streams and buckets; checkpoints."""
import os

from runs import COMMS, LIBRARY, compare, compile_cuda, interp, only_driver, read_run, train

# Mesh and microbatches of all models, and of some.
LAYOUTS = [('data=2', 1)]
MORE_LAYOUTS = [('mlp', 'data=3', 1), ('mlp', 'data=2,model=2', 1), ('gpt2', 'model=2', 1), ('llama', 'model=2', 1),
                ('bn_cnn', 'data=2', 2), ('gpt2', 'data=2', 2)]
# State divided among ranks: case, mesh, microbatches, --zero.
DIVIDED = [('mlp', 'data=2', 1, '1'), ('bn_cnn', 'data=2', 1, '2'), ('gpt2', 'data=2', 1, '3'), ('gpt2', 'data=2', 2, '3'),
           ('gpt2', 'data=2', 2, '2'), ('llama', 'data=2,model=2', 1, '3'), ('mlp', 'replica=2,data=2', 1, '3:data')]
# The forward pass computed again: case, mesh, microbatches, further flags.
REPEATED = [('bn_cnn', 'data=2', 1, ()), ('gpt2', 'data=2', 2, ('--zero=3',)), ('llama', 'data=2,model=2', 1, ())]
# With messages, or with several kinds of collectives.
FIRST = [('mlp', 'pipe=2', 2, ()), ('gpt2', 'data=2,pipe=2', 2, ('--zero=2',))]
# On devices of several sizes: case, mesh, precision, further flags.
DEVICES = [('gpt2', 'data=2', 'bf16', ()), ('llama', '', 'f32', ()), ('llama', '', 'bf16', LIBRARY),
           ('bn_cnn', 'data=2', 'f32', ()), ('gpt2', '', 'tf32', ())]


def check_layout(runner, case, mesh, microbatches, comm, want, extra=()):
    stem = compile_cuda(runner, case, microbatches, mesh=mesh, extra=extra)
    losses, state = train(runner, case, stem, '.'.join([comm, *extra]), interp.STEPS, '--comm=' + comm)
    return compare(losses, state, want)


def check_resume(runner, case, first, second):
    """Five steps of one (target, mesh) and five of another are ten on the CPU."""
    def program(target, mesh):
        return compile_cuda(runner, case, mesh=mesh) if target == 'cuda' else runner.program(case, mesh)
    tag = '.'.join(['resume', *first, *second])
    _, want = train(runner, case, program('cpu', ''), tag + '.whole', interp.STEPS)
    folder = os.path.join(runner.folder, f'{case}.{tag}.checkpoint')
    train(runner, case, program(*first), tag, interp.STEPS // 2, '--checkpoint=' + folder)
    _, got = train(runner, case, program(*second), tag, interp.STEPS, '--checkpoint=' + folder, '--resume')
    error = interp.check_state(interp.read_safetensors(got), interp.read_safetensors(want), 1e-10)
    return 'state %.1e' % error


def check_modes(runner, case, mesh='', comms=('nccl',), extra=()):
    """With graphs and without, in every order of streams: the same bytes."""
    stem = compile_cuda(runner, case, mesh=mesh, extra=extra)
    want, ways = None, 0
    for comm in comms:
        for graph in 'off', 'on':
            for order in 'async', 'eager', 'lazy', 'lazy-newest':
                got = read_run(train(runner, case, stem, f'modes.{comm}.{graph}.{order}{extra}', 3, '--cuda-graph=' + graph,
                                     '--comm=' + comm, DPC_EMU_STREAM=order))
                if want is not None and got != want:
                    raise interp.Failed(f'--cuda-graph={graph} with streams {order}, {comm}: another state')
                want = got
                ways += 1
    return f'{ways} ways'


def check_devices(runner, case, mesh, precision, extra=()):
    """Devices with more multiprocessors, which run threads and blocks in another order: the same bytes."""
    stem = compile_cuda(runner, case, mesh=mesh, precision=precision, extra=extra)
    want = None
    for multiprocessors, order in ('108', 'forward'), ('132', 'reverse'), ('132', 'random'):
        got = read_run(train(runner, case, stem, f'devices.{multiprocessors}.{order}', 3, '--comm=local',
                             DPC_EMU_MULTIPROCESSORS=multiprocessors, DPC_EMU_ORDER=order))
        if want is not None and got != want:
            raise interp.Failed(f'{multiprocessors} multiprocessors, threads {order}: another state')
        want = got
    return '3 devices'


def check_buckets(runner, case, mesh):
    """Buckets decide nothing about values, nor does overlap, where sums are staged."""
    want = None
    for extra in (), ('--bucket-mib=0.001',), ('--overlap=off',):
        stem = compile_cuda(runner, case, mesh=mesh, extra=extra)
        got = read_run(train(runner, case, stem, 'buckets', interp.STEPS, '--comm=local'))
        if want is not None and got != want:
            raise interp.Failed(f'{extra} gives another state')
        want = got
    return '3 programs'


def check_shared_device(runner, case):
    """Two ranks share a device when their tensors are staged, and need no other library than the driver."""
    stem = compile_cuda(runner, case, mesh='data=2')
    want = read_run(train(runner, case, stem, 'apart', 4))
    got = read_run(train(runner, case, stem, 'shared', 4, '--comm=local', DPC_EMU_DEVICES='1',
                         DPC_CUDA_LIBRARIES=only_driver(runner)))
    if got != want:
        raise interp.Failed('another state than with a device each')
    return 'the same bytes'


def tests(runner):
    for case, mesh, microbatches in [*((case, *layout) for case in interp.CASES for layout in LAYOUTS), *MORE_LAYOUTS]:
        for comm in COMMS:
            yield (f'{case} {mesh} {microbatches} microbatches {comm}', check_layout,
                   (case, mesh, microbatches, comm, runner.want(case, microbatches)))
    for case, mesh, microbatches, flags in [*((*layout, (f'--zero={stage}',)) for *layout, stage in DIVIDED),
                                            *((*layout, (*flags, '--remat=full')) for *layout, flags in REPEATED)]:
        yield (' '.join([f'{case} {mesh} {microbatches} microbatches', *(flag.lstrip('-') for flag in flags)]), check_layout,
               (case, mesh, microbatches, 'nccl', runner.want(case, microbatches), flags))
    # Captured messages and collectives of several groups: the emulated NCCL refuses those that would connect ranks.
    for case, mesh, microbatches, flags in FIRST:
        yield (f'ahead, first operations of {case} {mesh}', check_layout,
               (case, mesh, microbatches, 'nccl', runner.want(case, microbatches), flags))
    yield 'ranks, a CPU rank resumed', check_resume, ('mlp', ('cpu', ''), ('cuda', 'data=2'))
    yield 'ranks, resumed on CPU ranks', check_resume, ('mlp', ('cuda', 'data=2'), ('cpu', 'data=2,model=2'))
    yield 'resume on the device', check_resume, ('mlp', ('cpu', ''), ('cuda', ''))
    yield 'resume on the CPU', check_resume, ('mlp', ('cuda', ''), ('cpu', ''))
    yield 'ranks, graphs and streams', check_modes, ('mlp', 'data=2', COMMS)
    yield 'ranks, gpt2 graphs and streams', check_modes, ('gpt2', 'data=2', ('local',))
    yield 'ranks, library graphs and streams', check_modes, ('gpt2', 'data=2', COMMS, LIBRARY)
    for case in interp.CASES if os.environ.get('DPC_LONG') else ('mlp', 'bn_cnn', 'lstm'):
        yield f'{case} graphs and streams', check_modes, (case,)
    for case, mesh, precision, flags in DEVICES:
        yield (' '.join([f'devices {case} {mesh or "one rank"} {precision}', *(flag.lstrip('-') for flag in flags)]), check_devices,
               (case, mesh, precision, flags))
    yield 'ranks, buckets', check_buckets, ('gpt2', 'data=2')
    yield 'ranks, one device staged', check_shared_device, ('mlp',)
