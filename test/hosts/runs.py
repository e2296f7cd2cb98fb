"""Runs of programs over several hosts: the hosts and programs of a test, the ways to start a run, and what a run must leave."""
import importlib.machinery
import importlib.util
import itertools
import json
import os
import re
import secrets
import subprocess
import time

import mpiruns as launchers

HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader('interp', os.path.join(HERE, '..', 'interp', 'run'))
interp = importlib.util.module_from_spec(importlib.util.spec_from_loader('interp', loader))
loader.exec_module(interp)

Failed = interp.Failed
HOSTS, STEPS, PORT = 3, 6, 29500
LAYOUTS = ['--mesh=data=6'], ['--mesh=pipe=3,data=2', '--microbatches=4']


def read(path):
    with open(path, 'rb') as file:
        return file.read()


class World:
    """The hosts, a folder that all of them see, and the programs in it."""

    def __init__(self, network, folder, isolated):
        self.network, self.hosts, self.folder, self.isolated = network, network.hosts, folder, isolated
        self.tools = interp.find_tools()
        self.runner = interp.Runner(self.tools, folder)
        self.runs, self.ports = 0, itertools.count(PORT + 1)
        self.token = self.path('token')
        self.write_token(self.token, 0o600)

    def write_token(self, path, mode):
        with open(path, 'w') as file:
            file.write(secrets.token_hex(32) + '\n')
        os.chmod(path, mode)

    def path(self, *words):
        return os.path.join(self.folder, '.'.join(str(word) for word in words))

    def tool(self, name):
        return os.path.join(self.tools, name)

    def program(self, case, options, infers=False):
        path = self.path(case, *(option.strip('-') for option in options), 'infer' if infers else 'train')
        if not os.path.exists(path):
            flags = interp.CASES[case][0]
            flags = [flag for flag in flags if flag.startswith('--shape')] if infers else flags
            self.runner.tool('dpc-compile', os.path.join(interp.MODELS, case, 'model.onnx'), '-o', path, *flags, *options)
        return path

    def rendezvous(self):
        return f'tcp://{self.hosts[0].address}:{next(self.ports)}'

    def launch(self, *command, counts=None, before=(), rendezvous=None, hosts=None, nodes=None, token=None, each=None,
               indices=None, comm=None, given=None, **variables):
        """Starts dpc-run on each host. `counts` has the number of ranks of each, `indices` the numbers of the hosts, `each` and `given`
        options of dpc-run and of the program on a host."""
        hosts, place = hosts or self.hosts, rendezvous or self.rendezvous()
        if comm or not self.isolated:
            command = (*command, f'--comm={comm or "sockets"}')
        return [host.start([self.tool('dpc-run'), f'--nodes={nodes or len(hosts)}', f'--node-rank={indices[index] if indices else index}',
                            f'--rendezvous={place}', f'--token-file={token or self.token}', *before,
                            *([f'-n{counts[index]}'] if counts else []), *(each(index) if each else []), *command,
                            *(given(index) if given else [])], **variables)
                for index, host in enumerate(hosts)]


def ends(processes, seconds=60):
    """Exit codes, outputs and errors of processes. A process that hangs is killed, and has failed."""
    deadline, results = time.monotonic() + seconds, []
    for process in processes:
        try:
            out, error = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            for each in processes:
                each.kill()
            raise Failed(f'hangs after {seconds} s') from None
        results.append((process.returncode, out, error))
    return results


def succeed(processes):
    results = ends(processes)
    for index, (code, out, error) in enumerate(results):
        if code:
            raise Failed(f'host {index}: exit code {code}: {error or out}')
    return results


def training(world, case, program, out, data=None):
    return [program, '--data=' + (data or os.path.join(interp.MODELS, case, 'data.npz')), f'--steps={STEPS}', f'--log={out}.jsonl',
            f'--save-params={out}.safetensors', f'--checkpoint={out}.checkpoint', '--checkpoint-every=3']


def left(out):
    """What a run of training leaves: the losses, and bytes by file name."""
    with open(out + '.jsonl') as log:
        lines = [json.loads(line) for line in log]
    folder = f'{out}.checkpoint/step-{STEPS}'
    files = {name: read(os.path.join(folder, name)) for name in os.listdir(folder) if name.endswith('.safetensors')}
    files['parameters'] = read(out + '.safetensors')
    return [{key: line[key] for key in line if 'loss' in key or key == 'grad_norm'} for line in lines], files


def compare(got, want):
    if got[0] != want[0]:
        raise Failed(f'losses {got[0]}, not {want[0]}')
    if got[1].keys() != want[1].keys():
        raise Failed(f'files {sorted(got[1])}, not {sorted(want[1])}')
    for name, content in want[1].items():
        if got[1][name] != content:
            raise Failed(f'{name}: other bytes')


def one_host(world, case, program, comm='local'):
    out = f'{program}.one.{comm}'
    if not os.path.exists(out + '.jsonl'):
        world.runner.tool('dpc-run', *training(world, case, program, out), '--comm=' + comm)
    return left(out)


def expect(results, code, texts):
    """Expects an exit code on every host, and one line that has the texts; `texts` may differ by host."""
    for index, (got, out, error) in enumerate(results):
        wanted = texts[index] if isinstance(texts, list) else texts
        lines = error.strip().splitlines()
        if got != code:
            raise Failed(f'host {index}: exit code {got}, not {code}: {error or out}')
        if len(lines) != 1 or not re.search(wanted, lines[0]):
            raise Failed(f'host {index}: says {lines}, not one line with "{wanted}"')


def mpiruns(world):
    return launchers.found() if world.isolated else []


def check_mpirun(world, name, options, *flags, case='gpt2', **variables):
    """Six ranks on three hosts, started by an mpirun. Without DPC_RENDEZVOUS, MPI tells the ranks where they meet."""
    program = world.program(case, options)
    world.runs += 1
    out = f'{program}.{name}.{world.runs}'
    succeed([launchers.start(name, world.network, world.folder, [*training(world, case, program, out), *flags], **variables)])
    compare(left(out), one_host(world, case, program))


def torchrun(world, port, rank, **more):
    """The variables that torchrun gives to a rank."""
    return dict(RANK=str(rank), WORLD_SIZE='6', LOCAL_RANK=str(rank % 2), LOCAL_WORLD_SIZE='2', GROUP_RANK=str(rank // 2),
                MASTER_ADDR=world.hosts[0].address, MASTER_PORT=str(port), TORCHELASTIC_RUN_ID='test', **more)


def judge(name, check):
    """The name of a test, and the reason why it failed; '' if it passed."""
    try:
        check()
        return name, ''
    except Failed as error:
        return name, str(error) or 'failed'
    except Exception as error:  # a test that breaks has failed
        return name, f'{type(error).__name__}: {error}'
