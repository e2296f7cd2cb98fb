"""Tests `starts ..` and `input ..`: other ways to start the ranks, hosts with unequal numbers of ranks, and input that is refused."""
import os
import sys
import time

from runs import check_mpirun, compare, ends, expect, Failed, interp, left, mpiruns, one_host, PORT, STEPS, succeed, torchrun, training
from spans import check_span


def check_by_hand(world):
    """Two shells, each with the variables of a launcher that has no dpc-run."""
    program = world.program('mlp', ['--mesh=data=2'])
    out, port = program + '.hand', PORT + 900
    command = training(world, 'mlp', program, out) + ([] if world.isolated else ['--comm=sockets'])
    succeed([host.start(command, RANK=str(rank), WORLD_SIZE='2', MASTER_ADDR=world.hosts[0].address, MASTER_PORT=str(port),
                        DPC_TOKEN_FILE=world.token) for rank, host in enumerate(world.hosts[:2])])
    compare(left(out), one_host(world, 'mlp', program))


def check_variables(world, launcher):
    """Six ranks on three hosts, started with the variables of torchrun, of srun, or of an indexed job of Kubernetes. Strangers listen at
    the first two ports of torchrun: its own store, and another service."""
    program = world.program('gpt2', ['--mesh=data=6'])
    out, port = f'{program}.{launcher}', PORT + 950
    command = training(world, 'gpt2', program, out) + ([] if world.isolated else ['--comm=sockets'])
    first = world.hosts[0]

    def variables(rank):
        if launcher == 'torchrun':
            return torchrun(world, port, rank)
        if launcher == 'Kubernetes':
            return dict(JOB_COMPLETION_INDEX=str(rank), WORLD_SIZE='6', DPC_RENDEZVOUS=f'tcp://{first.address}:{port + 20}')
        # Slurm names hosts; here a name is an address.
        return dict(SLURM_PROCID=str(rank), SLURM_NTASKS='6', SLURM_LOCALID=str(rank % 2), SLURM_STEP_NUM_NODES='3',
                    SLURM_STEP_NODELIST=f'{first.address},10.77.0.[2-3]', SLURM_JOB_ID=str(os.getpid()), SLURM_STEP_ID='0')

    strangers = []
    if launcher == 'torchrun':
        strangers = [first.start([sys.executable, '-c', 'import socket, time\nwith socket.create_server'
                                  f'(("{first.address}", {port + step})): time.sleep(600)']) for step in (0, 1)]
        time.sleep(0.5)
    try:
        succeed([world.hosts[rank // 2].start(command, DPC_TOKEN_FILE=world.token, **variables(rank)) for rank in range(6)])
    finally:
        for stranger in strangers:
            stranger.kill()
        if strangers and world.isolated:
            while first.kill('KILL', 'create_server'):
                time.sleep(0.01)
    compare(left(out), one_host(world, 'gpt2', program))


def check_no_token(world):
    """Ranks of several hosts without a secret end at once, and rank 0 says why."""
    program = world.program('gpt2', ['--mesh=data=6'])
    command = training(world, 'gpt2', program, world.path('never'))
    begin = time.monotonic()
    for launched in (dict(RANK='0', WORLD_SIZE='6', LOCAL_WORLD_SIZE='2', MASTER_ADDR='10.77.0.1', MASTER_PORT='29500'),
                     dict(OMPI_COMM_WORLD_RANK='0', OMPI_COMM_WORLD_SIZE='6', OMPI_COMM_WORLD_LOCAL_SIZE='2'),
                     dict(SLURM_PROCID='0', SLURM_NTASKS='6', SLURM_NNODES='3', SLURM_NODELIST='a[1-3]')):
        expect(ends([world.hosts[1].start(command, **launched)]), 1, 'ranks are on several hosts: .* set DPC_TOKEN_FILE')
    if time.monotonic() > begin + 10:
        raise Failed('takes more than 10 s')


def check_no_token_by_hand(world):
    """A rank that is started by hand says what it lacks, whatever its number is."""
    program = world.program('mlp', ['--mesh=data=2'])
    command = training(world, 'mlp', program, world.path('never'))
    rank = world.hosts[1].start(command, RANK='1', WORLD_SIZE='2', DPC_RENDEZVOUS=world.rendezvous())
    expect(ends([rank]), 1, 'needs the run\'s token')


def check_by_name(world):
    if not world.isolated:
        return
    check_span(world, 'gpt2', ['--mesh=data=6'], rendezvous=f'tcp://{world.hosts[0].name}:{PORT - 1}')


def check_second_addresses(world):
    for host in world.hosts:
        host.add_second()
    try:
        check_span(world, 'gpt2', ['--mesh=data=6'], each=lambda index: [f'--listen={world.hosts[index].second}'] if index else [])
    finally:
        for host in world.hosts:
            host.remove_second()


def check_one_node(world):
    program = world.program('mlp', ['--mesh=data=2'])
    out = program + '.node'
    succeed([world.hosts[0].start([world.tool('dpc-run'), '--nodes=1', '--node-rank=0', '--rendezvous=tcp://127.0.0.1:29400',
                                   f'--token-file={world.token}', *training(world, 'mlp', program, out)])])
    compare(left(out), one_host(world, 'mlp', program))


def check_resume(world):
    """Half of the steps on one host, the rest on three."""
    program = world.program('gpt2', ['--mesh=data=6'])
    out = world.path('resumed')
    command = training(world, 'gpt2', program, out)
    half = [word.replace(f'--steps={STEPS}', f'--steps={STEPS // 2}') for word in command]
    world.runner.tool('dpc-run', *half, '--comm=local')
    succeed(world.launch(*command, '--resume'))
    compare(left(out), one_host(world, 'gpt2', program))


def starts(world):
    yield 'starts 3 + 1 + 2 ranks', lambda: check_span(world, 'gpt2', ['--mesh=data=6'], counts=[3, 1, 2])
    yield 'starts by hand', lambda: check_by_hand(world)
    for launcher in ('torchrun', 'srun', 'Kubernetes'):
        yield f'starts by the variables of {launcher}', lambda launcher=launcher: check_variables(world, launcher)
    for name in mpiruns(world):
        yield f'starts by {name} over sockets', lambda name=name: check_mpirun(
            world, name, ['--mesh=data=6'], DPC_RENDEZVOUS=world.rendezvous(), DPC_TOKEN_FILE=world.token)
    yield 'starts at a name', lambda: check_by_name(world)
    yield 'starts at addresses that the user names', lambda: check_second_addresses(world)
    yield 'starts one node', lambda: check_one_node(world)
    yield 'starts and goes on from one host', lambda: check_resume(world)


def inputs(world):
    program = world.program('gpt2', ['--mesh=data=6'])
    data = '--data=' + os.path.join(interp.MODELS, 'gpt2', 'data.npz')
    run = [program, data, '--steps=2']

    def refuse(code, texts, *command, **how):
        expect(ends(world.launch(*(command or run), **how)), code, texts)

    def listen_by_hand():
        """A rank listens at DPC_LISTEN and nowhere else."""
        mlp, place = world.program('mlp', ['--mesh=data=2']), world.rendezvous()
        command = [mlp, '--data=' + os.path.join(interp.MODELS, 'mlp', 'data.npz'), '--steps=2', '--comm=sockets']
        results = ends([host.start(command, RANK=str(rank), WORLD_SIZE='2', DPC_RENDEZVOUS=place, DPC_TOKEN_FILE=world.token,
                                   **({'DPC_LISTEN': '10.9.9.9'} if rank else {})) for rank, host in enumerate(world.hosts[:2])])
        expect(results[:1], 3, 'rank 1 died before the run began')
        expect(results[1:], 5, 'cannot listen on 10.9.9.9')

    def mismatch(options):
        refuse(1, r'node 1 \(.*\) has ', each=lambda index: options[index])

    def usage(code, text, *arguments):
        expect(ends([world.hosts[0].start([world.tool('dpc-run'), *arguments, *run])]), code, text)

    def token(mode, text):
        path = world.path('token', oct(mode))
        world.write_token(path, mode)
        expect(ends(world.launch(*run, token=path)), 1, text)

    def short_token():
        path = world.path('token', 'short')
        with open(path, 'w') as file:
            file.write('00ff')
        os.chmod(path, 0o600)
        expect(ends(world.launch(*run, token=path)), 1, 'does not hold 64 hex digits')

    def lacking():
        """A host that lacks the program ends all of them at once."""
        path = world.path('lacking')
        place = world.rendezvous()
        found = [host.start([world.tool('dpc-run'), '--nodes=3', f'--node-rank={index}', f'--rendezvous={place}',
                             f'--token-file={world.token}', path if index == 1 else program, *run[1:]])
                 for index, host in enumerate(world.hosts)]
        expect(ends(found), 1, [r'node 1 \(.*\): .*lacking: no such file', r'error: .*lacking: no such file',
                                r'node 1 \(.*\): .*lacking: no such file'])

    yield 'input ranks that do not add up', lambda: refuse(1, r'compiled for 6 ranks, and the nodes start 5: 2 on node 0 \(.*\), '
                                                           r'2 on node 1 \(.*\), 1 on node 2', counts=[2, 2, 1])
    yield 'input restarts differ', lambda: mismatch([[], ['--max-restarts=2'], []])
    yield 'input limits differ', lambda: refuse(
        1, r'node 1 \(.*\) has --frozen 20, node 0 \(.*\) has \(none\)', given=lambda index: ['--frozen=20'] if index == 1 else [])
    yield 'input a node twice', lambda: refuse(1, 'node 1 was started twice', indices=[0, 1, 1])
    yield 'input no rendezvous', lambda: usage(2, '--nodes=2 needs --rendezvous', '--nodes=2', '--node-rank=0')
    yield 'input no token', lambda: usage(2, '--nodes=2 needs --token-file', '--nodes=2', '--node-rank=0', '--rendezvous=tcp://a:1')
    yield 'input no number of hosts', lambda: usage(2, '--node-rank needs --nodes=N', '--node-rank=0')
    yield 'input node beyond', lambda: usage(2, '--node-rank=2 is not below --nodes=2', '--nodes=2', '--node-rank=2',
                                             '--rendezvous=tcp://a:1', '--token-file=x')
    yield 'input local over hosts', lambda: refuse(2, 'share no memory', *run, '--comm=local')
    yield 'input launchers without a token', lambda: check_no_token(world)
    yield 'input no token by hand', lambda: check_no_token_by_hand(world)
    yield 'input readable token', lambda: token(0o644, 'must be this user\'s with mode 0600')
    yield 'input short token', short_token
    yield 'input wildcard', lambda: refuse(1, 'stands for all addresses', rendezvous='tcp://0.0.0.0:29500')
    yield 'input listen elsewhere', lambda: refuse(
        5, r'(node 1 \(.*\): )?--listen: cannot listen on 10.9.9.9', each=lambda index: ['--listen=10.9.9.9'] if index == 1 else [])
    yield 'input listen elsewhere by hand', listen_by_hand
    yield 'input listen at all addresses', lambda: refuse(
        1, r'(node 1 \(.*\): )?--listen: .*0.0.0.0 stands for all addresses',
        each=lambda index: ['--listen=0.0.0.0'] if index == 1 else [])
    yield 'input file rendezvous', lambda: refuse(2, 'is not tcp://HOST:PORT', rendezvous='file:///tmp/x')
    yield 'input lacking program', lacking
