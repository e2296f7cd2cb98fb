"""Faults of a run over three hosts: each kind, in the first rank, one in the middle and the last one, at six moments, over TCP and MPI.

The program is gpt2 with the main function of fault.c, in which one rank breaks. Every launcher must end by itself in time, with exit code
1 or more and one line that names the guilty rank or host, or all of them succeed with the results of a run without a fault.
"""
import os
import re
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MOMENTS = ('before', 'rendezvous', 'first', 'collective', 'checkpoint', 'end')
RANKS = (0, 3, 5)
DEATHS = ('kill', 'segv', 'abort', 'exit0', 'exit1')
SIGNALS = ('term', 'int')
MISMATCHES = ('operation', 'count', 'dtype', 'reduction', 'swap', 'skip')
VALUES = ('nan', 'flip', 'drift')
LINKS = ('reset', 'link', 'corrupt')
KINDS = (*DEATHS, *SIGNALS, 'stop', 'memory', 'straggler', *MISMATCHES, *VALUES, *LINKS, 'launcher', 'disk')
STEPS = 40
# Seconds from the fault to the end of all launchers that live: one for a death, plus one to start and end the processes.
SECONDS = {**dict.fromkeys((*DEATHS, *MISMATCHES, *VALUES), 3), **dict.fromkeys(SIGNALS, 20)}
OTHER_SECONDS = 17


def impossible(kind, moment):
    """Why a fault cannot happen at a moment; '' if it can."""
    if kind in MISMATCHES and moment in ('before', 'rendezvous', 'end'):
        return 'no collective of a step follows or has begun'
    if kind in VALUES and moment in ('before', 'rendezvous', 'end'):
        return 'the rank has no state yet, or does not use it any more'
    if kind in ('reset', 'corrupt') and moment == 'before':
        return 'the rank has no connection yet'
    if kind == 'disk' and moment in ('before', 'rendezvous'):
        return 'the rank has not begun to write'
    return ''


def may_succeed(kind, moment):
    """Whether the run may end as without the fault."""
    return kind in ('straggler', 'memory', 'disk') or moment == 'end' or kind in LINKS and moment in ('before', 'rendezvous')


def build(world, interp):
    """The program with fault.c. Each of the 6 ranks has a part of the state, so each writes a part of a checkpoint."""
    stem = world.path('matrix')
    if os.path.exists(stem):
        return stem
    flags = interp.CASES['gpt2'][0]
    world.runner.tool('dpc-compile', os.path.join(interp.MODELS, 'gpt2', 'model.onnx'), *flags, '--mesh=data=3,model=2', '--emit=object',
                      '-o', stem + '.o')
    libraries = os.path.join(world.tools, '..', 'lib')
    done = subprocess.run([os.environ.get('CXX', 'c++'), '-I', os.path.join(ROOT, 'runtime', 'include'), '-x', 'c',
                           os.path.join(HERE, 'fault.c'), '-x', 'none', stem + '.o', '-Wl,--wrap=dpc_comm_create',
                           os.path.join(libraries, 'libdpc_runtime.a'), os.path.join(libraries, 'libdpc_runtime_data.a'),
                           '-lz', '-lm', '-lpthread', '-lrt', '-ldl', '-o', stem], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'cannot link: {done.stderr[-800:]}')
    return stem


def command(interp, program, out):
    data = os.path.join(interp.MODELS, 'gpt2', 'data.npz')
    return [program, '--data=' + data, f'--steps={STEPS}', f'--log={out}.jsonl', f'--save-params={out}.safetensors',
            f'--checkpoint={out}.checkpoint', '--checkpoint-every=10', '--timeout=8']


class Outcome:
    """What a run with a fault left: when the fault happened, and the code, the text and the end of each launcher."""

    def __init__(self, processes, mark, unplugged, seconds=60):
        self.happened, self.codes, self.texts, ends = None, [None] * len(processes), [''] * len(processes), {}
        deadline = time.monotonic() + seconds
        while len(ends) < len(processes) and time.monotonic() < deadline:
            if self.happened is None and os.path.exists(mark):
                self.happened = time.monotonic()
                if unplugged:
                    unplugged.unplug()
            for index, process in enumerate(processes):
                if index not in ends and process.poll() is not None:
                    ends[index] = time.monotonic()
            time.sleep(0.005)
        self.hangs = [index for index in range(len(processes)) if index not in ends]
        for index, process in enumerate(processes):
            if index in self.hangs:
                process.kill()
            try:
                out, error = process.communicate(timeout=1)
            except subprocess.TimeoutExpired:  # another process still has its pipes
                out, error = '', 'hangs'
            self.codes[index], self.texts[index] = process.returncode, out + error
        self.took = max(ends.values(), default=0) - (self.happened or 0)


def judge(failed, world, kind, rank, moment, outcome, results):
    """Raises `failed` unless the run ended as it must. `results` is whether the files of the run are those of one without a fault."""
    happened, host = outcome.happened is not None, rank // 2
    if not happened:
        raise failed(f'the fault did not happen: {outcome.codes} {outcome.texts}')
    launchers = range(len(outcome.codes))
    # A dead launcher says nothing, and a host that is cut off may say that it sees no other one.
    silent = [host] if kind in ('launcher', 'link') else []
    if outcome.hangs and not (outcome.hangs == silent):
        raise failed(f'hosts {outcome.hangs} hang')
    if all(outcome.codes[index] == 0 for index in launchers if index not in silent):
        if not may_succeed(kind, moment):
            raise failed('the run succeeded')
        if not results():
            raise failed('other results')
        return
    if kind == 'straggler':
        raise failed(f'{outcome.codes} {outcome.texts}')
    limit = SECONDS.get(kind, OTHER_SECONDS)
    if outcome.took > limit:
        raise failed(f'took {outcome.took:.1f} s, not {limit}')
    for index in launchers:
        if index in silent:
            continue
        errors = [line for line in outcome.texts[index].splitlines() if line.startswith('error')]
        text = outcome.texts[index]
        if outcome.codes[index] == 0:
            raise failed(f'host {index} succeeded: {outcome.codes}, {outcome.texts}')
        named = re.search(rf'rank {rank}\b', text) or re.search(rf'node {host} \({world.hosts[host].name}\)', text)
        if kind in SIGNALS and outcome.codes[index] == 130:
            named = named or re.search('interrupted', text)
        if not named or len(errors) > 1:
            raise failed(f'host {index} does not name rank {rank} in one line: {text.strip()[-600:]}')
