"""Tests `engines ..`: MPI, Gloo and NCCL move the data."""
import os

import namespaces
from runs import check_mpirun, compare, interp, LAYOUTS, left, mpiruns, one_host, succeed, training
from spans import check_span

CUDA, CUDA_CASE = ['--target=cuda', '--ptxas=off'], 'mlp'
ENGINES = [*LAYOUTS, ['--mesh=data=3,model=2', '--zero=3']]


def check_cuda(world, options, comm):
    """A program for CUDA, on the emulated devices of each host. Over NCCL, which these devices emulate in /dev/shm, the hosts share that
    folder. Otherwise the tensors go through the hosts."""
    program = world.program(CUDA_CASE, [*CUDA, *options])
    world.runs += 1
    out = f'{program}.{world.runs}'
    shared = world.path('shm')
    os.makedirs(shared, exist_ok=True)
    for host in world.hosts if comm == 'nccl' else []:
        namespaces.quietly(*host.command('mount', '--bind', shared, '/dev/shm'))
    try:
        succeed(world.launch(*training(world, CUDA_CASE, program, out), '--comm=' + comm))
    finally:
        for host in world.hosts if comm == 'nccl' else []:
            namespaces.quietly(*host.command('umount', '/dev/shm'))
    compare(left(out), one_host(world, CUDA_CASE, program, 'nccl' if comm == 'nccl' else 'local'))


def cuda_engines(world):
    libraries = os.environ.setdefault('DPC_CUDA_LIBRARIES', os.path.join(world.tools, '..', 'cuda-emulator'))
    for layout in LAYOUTS:
        for comm in ('nccl', 'sockets'):
            yield f'engines cuda over {comm} {" ".join(layout)}', lambda layout=layout, comm=comm: check_cuda(world, layout, comm)
        for name in mpiruns(world):
            yield f'engines cuda over {name} {" ".join(layout)}', lambda layout=layout, name=name: check_mpirun(
                world, name, [*CUDA, *layout], '--comm=mpi', case=CUDA_CASE, DPC_CUDA_LIBRARIES=libraries)


def engines(world):
    for name in mpiruns(world):
        for options in ENGINES:
            yield f'engines {name} {" ".join(options)}', lambda name=name, options=options: check_mpirun(
                world, name, options, '--comm=mpi')
    for options in ENGINES if interp.has_gloo(world.tools) else ():
        yield f'engines gloo {" ".join(options)}', lambda options=options: check_span(world, 'gpt2', options, comm='gloo')
    if world.isolated:
        yield from cuda_engines(world)
