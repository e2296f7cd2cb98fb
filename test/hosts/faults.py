"""Tests `faults ..`: a rank, a launcher or a link breaks in the middle of a run, or a run is interrupted. (matrix.py has more.)"""
import os
import re
import subprocess
import time

import listeners
from runs import ends, Failed, interp, PORT, read, succeed, torchrun


def check_fault(world, fault, code, cause, guilty, seconds, options=(), **how):
    """A fault during a long run with these options. `cause` is expected on the guilty host (None: it need not say anything), and on the
    others after the host's name."""
    program = world.program('gpt2', ['--mesh=data=6'])
    world.runs += 1
    log = f'{program}.fault{world.runs}.jsonl'
    processes = world.launch(program, '--data=' + os.path.join(interp.MODELS, 'gpt2', 'data.npz'), '--steps=100000000',
                             f'--log={log}', *options, **how)
    deadline = time.monotonic() + 30
    while not (os.path.exists(log) and os.path.getsize(log)):
        if time.monotonic() > deadline or any(process.poll() is not None for process in processes):
            raise Failed(f'the run did not begin: {ends(processes, 1)}')
        time.sleep(0.05)
    begin = time.monotonic()
    fault()
    try:
        results = ends(processes, seconds + 20)
        took = time.monotonic() - begin
    finally:
        for host in world.hosts:
            host.plug()
    name = re.escape(world.hosts[guilty].name)
    for index, (got, out, error) in enumerate(results):
        if index == guilty and cause[0] is None:
            continue
        lines = error.strip().splitlines()
        wanted = cause[0] if index == guilty else cause[1].replace('HOST', rf'node {guilty} \({name}\)')
        if got != code or len(lines) != 1 or not re.search(wanted, lines[0]):
            raise Failed(f'host {index}: exit code {got} and {lines}, not {code} and one line with "{wanted}"')
    if took > seconds:
        raise Failed(f'took {took:.1f} s, not {seconds}')
    for host in world.hosts:
        rest = host.processes()
        if rest:
            raise Failed(f'{host.name} still runs {rest}')


class Restarted:
    """A run of which a rank dies, and which is started again: its parameters are those of a run in which nothing died."""

    STEPS = 600

    def __init__(self, world):
        self.world, self.program = world, world.program('gpt2', ['--mesh=data=6'])
        world.runs += 1
        self.out, self.whole = f'{self.program}.restart{world.runs}', f'{self.program}.whole'
        data = '--data=' + os.path.join(interp.MODELS, 'gpt2', 'data.npz')
        if not os.path.exists(self.whole):
            world.runner.tool('dpc-run', self.program, data, f'--steps={self.STEPS}', f'--save-params={self.whole}')
        self.command = [self.program, data, f'--steps={self.STEPS}', f'--log={self.out}.jsonl', f'--save-params={self.out}',
                        f'--checkpoint={self.out}.run', '--checkpoint-every=50']

    def kill(self, processes, index):
        """Kills a rank of a host once there is a checkpoint."""
        deadline = time.monotonic() + 30
        while not any(os.path.exists(f'{self.out}.run/step-{step}') for step in (100, 150)):
            if time.monotonic() > deadline or any(process.poll() is not None for process in processes):
                raise Failed(f'no checkpoint: {ends(processes, 1)}')
            time.sleep(0.01)
        if not self.world.hosts[index].kill('KILL', '^[^ ]*train --data'):
            raise Failed('no rank to kill')

    def check(self):
        if read(self.out) != read(self.whole):
            raise Failed('other parameters')


def check_restart(world, index):
    run = Restarted(world)
    processes = world.launch(*run.command, before=['--max-restarts=1'])
    run.kill(processes, index)
    for number, (code, _, error) in enumerate(ends(processes)):
        if code or 'note: a rank died; start 2 of 2' not in error:
            raise Failed(f'host {number}: exit code {code}: {error}')
    run.check()


def check_restart_by_torchrun(world):
    """torchrun counts the restart on the host on which a rank has failed."""
    run, port = Restarted(world), PORT + 970

    def start(attempt):
        return [world.hosts[rank // 2].start(run.command, **torchrun(
            world, port, rank, DPC_TOKEN_FILE=world.token, TORCHELASTIC_RESTART_COUNT=str(attempt if rank // 2 == 1 else 0),
            TORCHELASTIC_ERROR_FILE=f'/tmp/logs{rank // 2}/attempt_{attempt}/{rank % 2}/error.json')) for rank in range(6)]

    processes = start(0)
    run.kill(processes, 1)
    if any(code == 0 for code, _, _ in ends(processes)):
        raise Failed('a rank succeeds')
    results = succeed(start(1))
    if 'resumed at step ' not in results[0][1]:
        raise Failed(f'begins anew: {results[0][1]}')
    run.check()


def check_records(world, fault, died):
    """The records of all hosts name the rank that was killed on host 1."""
    records = os.path.join(world.folder, 'records')
    check_fault(world, fault, 3, died, 1, 5, options=[f'--postmortem={records}'])
    text = subprocess.run([world.tool('dpc-run'), '--read-postmortem', records], capture_output=True, text=True, timeout=60).stdout
    for wanted in (fr'^  rank 5 on {re.escape(world.hosts[2].name)} ended with exit code 3; ', '^first divergent operation: none$',
                   '^conclusion: rank [23] did not end by itself; '):
        if not re.search(wanted, text, re.M):
            raise Failed(f'no "{wanted}" in {text}')


def faults(world):
    hosts = world.hosts
    died = (r'^error: rank \d died: its process \d+ was killed by signal 9', r'^error: HOST: rank \d died: its process \d+ was killed')

    def look():
        """While a run goes on, its processes listen on the addresses of their hosts only."""
        if found := listeners.open_to_all(hosts):
            raise Failed('; '.join(sorted(found)))
        rank(hosts[1], 'KILL')()

    def rank(host, signal):
        return lambda: host.kill(signal, '^[^ ]*train --data') or fail('no rank found')

    def fail(text):
        raise Failed(text)

    for index in range(3):
        yield f'faults kill a rank of host {index}', lambda index=index: check_fault(world, rank(hosts[index], 'KILL'), 3, died,
                                                                                    index, 5)
    yield 'faults records of all hosts', lambda: check_records(world, rank(hosts[1], 'KILL'), died)
    yield 'faults nothing listens at a wildcard', lambda: check_fault(world, look, 3, died, 1, 5)
    if interp.has_gloo(world.tools):
        yield 'faults kill a rank over gloo', lambda: check_fault(world, look, 3, died, 1, 5, comm='gloo')
    for index in range(3):
        yield (f'faults kill the launcher of host {index}', lambda index=index: check_fault(
            world, lambda: hosts[index].kill('KILL', 'dpc-run --nodes'), 3, (None, r'^error: HOST is lost: its dpc-run has ended'),
            index, 8))
    for index in range(3):
        yield (f'faults cut host {index} off', lambda index=index: check_fault(
            world, hosts[index].unplug, 3,
            (None, r'^error: HOST cannot be reached') if index else (None, '^error: HOST cannot be reached'), index, 15))
    yield 'faults restart by the variables of torchrun', lambda: check_restart_by_torchrun(world)
    for index in range(2):
        yield f'faults restart after a death on host {index}', lambda index=index: check_restart(world, index)
    yield 'faults cut host 1 off, with --frozen', lambda: check_fault(
        world, hosts[1].unplug, 3, (None, r'^error: HOST cannot be reached: nothing was heard from it for 4 s'), 1, 10,
        options=['--frozen=5'])

    def terminated(whom):
        """SIGTERM for the dpc-run of a host, for a rank, or for all processes of all hosts, as Slurm sends it."""
        path = world.path('terminated', whom)

        def send():
            if whom == 'all':
                for host in hosts:
                    host.do("pkill -TERM -f '[t]rain --data'")
            elif whom == 'rank':
                rank(hosts[2], 'TERM')()
            else:
                hosts[whom].kill('TERM', 'dpc-run --nodes')

        note = r'^note: (node \d \(.*\): )?interrupted after step \d+, checkpoint written'
        # Rank 0 may not be the first to say it.
        check_fault(world, send, 130, (note, note), 0, 20, options=[f'--checkpoint={path}'])
        steps = os.listdir(path)
        if len(steps) != 1 or not steps[0].startswith('step-'):
            raise Failed(f'leaves {steps}')

    for whom in (0, 1, 'rank', 'all'):
        yield f'faults SIGTERM for {whom}', lambda whom=whom: terminated(whom)
    yield 'faults interrupt host 1', lambda: check_fault(
        world, lambda: hosts[1].kill('INT', 'dpc-run --nodes'), 130,
        ('^note: .*interrupted', r'^note: (HOST: )?.*interrupted'), 1, 5)
