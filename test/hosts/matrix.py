"""Faults of a run over three hosts: each kind, in the first rank, one in the middle and the last one, at six moments, over TCP and MPI.

The program is gpt2 with the main function of fault.c, in which one rank breaks. Every launcher must end by itself in time, with exit code
1 or more and one line that names the guilty rank or host, or all of them succeed with the results of a run without a fault. There are 864
faults. Every eighth of them is tested, or all with DPC_LONG=1. A fault that cannot happen counts as skipped.
"""
import itertools
import os
import re
import subprocess
import sys
import threading
import time

import mpiruns
import runs

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', 'faults'))
from linking import link  # noqa: E402
MOMENTS = ('before', 'rendezvous', 'first', 'collective', 'checkpoint', 'end')
RANKS = (0, 3, 5)
WIRES = ('tcp', 'mpi')
DEATHS = ('kill', 'segv', 'abort', 'exit0', 'exit1')
SIGNALS = ('term', 'int')
MISMATCHES = ('operation', 'count', 'dtype', 'reduction', 'swap', 'skip')
VALUES = ('nan', 'flip', 'drift')
LINKS = ('reset', 'link', 'corrupt')
KINDS = (*DEATHS, *SIGNALS, 'stop', 'memory', 'straggler', *MISMATCHES, *VALUES, *LINKS, 'launcher', 'disk')
STEPS = 12  # so few that the records of a run have all operations
# Seconds from the fault to the end of all launchers that live: one for a death, plus one to start and end the processes.
SECONDS = {**dict.fromkeys((*DEATHS, *MISMATCHES, *VALUES), 3), **dict.fromkeys(SIGNALS, 20)}
OTHER_SECONDS, MPI_SECONDS = 17, 75
# Each rank writes a part of the checkpoints; or each rank has all of the state.
DIVIDED, REPLICATED = ['--mesh=data=3,model=2'], ['--mesh=data=6', '--zero=0']


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


def is_unknown_to_mpi(wire, kind, moment):
    """Whether the other ranks wait in MPI_Init for a rank that does not come, until their limit, and cannot know which one it is.
    mpirun may wait for a host that it does not reach; then the test ends it."""
    return wire == 'mpi' and kind in ('exit0', 'exit1', 'memory', 'stop', 'link') and moment in ('before', 'rendezvous')


def may_succeed(kind, moment):
    """Whether the run may end as without the fault."""
    return kind in ('straggler', 'memory', 'disk') or moment == 'end' or kind in LINKS and moment in ('before', 'rendezvous')


class Outcome:
    """What a run with a fault left: when the fault happened, and the code, the text and the end of each launcher. `unplugged` is the
    host that is cut off then, or None; no other run may be on the hosts if there is one."""

    def __init__(self, processes, mark, unplugged, hosts, seconds=80):
        self.happened, self.codes, self.texts, ends = None, [], [], {}
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
        self.launcher = processes[0].args[0]
        self.hangs = [index for index in range(len(processes)) if index not in ends]
        for index in self.hangs:
            processes[index].kill()
        for host in hosts if self.hangs and unplugged else ():
            host.clear()  # the daemons of an mpirun have its pipes
        for process in processes:
            try:
                out, error = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:  # another process still has its pipes
                out, error = '', 'hangs'
            self.codes.append(process.returncode)
            self.texts.append(out + error)
        self.took = max(ends.values(), default=0) - (self.happened or 0)


class Matrix:
    def __init__(self, world):
        self.world = world
        self.data = os.path.join(runs.interp.MODELS, 'gpt2', 'data.npz')
        self.mpiruns, self.lock = itertools.cycle(runs.mpiruns(world)), threading.Lock()

    def fail(self, text):
        raise runs.Failed(text)

    def command(self, stem, out):
        return [stem, '--data=' + self.data, f'--steps={STEPS}', f'--log={out}.jsonl', f'--save-params={out}.safetensors',
                f'--checkpoint={out}.checkpoint', '--checkpoint-every=4', f'--postmortem={out}.records', '--timeout=8', '--check-state=1',
                '--check-gradients']

    def build(self, layout):
        """The program with fault.c, and the parameters that it leaves without a fault."""
        stem = self.world.path('matrix', *(option.strip('-') for option in layout))
        if os.path.exists(stem + '.safetensors'):
            return stem
        flags = runs.interp.CASES['gpt2'][0]
        model = os.path.join(runs.interp.MODELS, 'gpt2', 'model.onnx')
        self.world.runner.tool('dpc-compile', model, *flags, *layout, '--emit=object', '-o', stem + '.o')
        if failure := link(self.world.tools, os.path.join(HERE, 'fault.c'), stem, '-Wl,--wrap=dpc_comm_create'):
            raise runs.Failed(f'cannot link: {failure}')
        self.world.runner.tool('dpc-run', *self.command(stem, stem), '--comm=local')
        return stem

    def start(self, wire, stem, out, place, **variables):
        """The launchers of a run: dpc-run on each host, or one mpirun."""
        if wire == 'tcp':
            return self.world.launch(*self.command(stem, out), rendezvous=place, **variables)
        name = next(self.mpiruns)
        return [mpiruns.start(name, self.world.network, self.world.folder, [*self.command(stem, out), '--comm=mpi'], **variables)]

    def program(self, kind):
        with self.lock:
            return self.build(REPLICATED if kind in VALUES else DIVIDED)

    def outcome(self, wire, kind, rank, moment, out, **variables):
        """The outcome of a run with a fault, which leaves no process. `out` is the stem of its files."""
        cut = self.world.hosts[rank // 2] if kind == 'link' else None
        processes = self.start(wire, self.program(kind), out, self.world.rendezvous(), DPC_TEST_FAULT=f'{kind}:{rank}:{moment}',
                               DPC_TEST_FAULT_MARK=out + '.mark', DPC_TEST_FAULT_FOLDER=out + '.checkpoint',
                               **variables)
        try:
            outcome = Outcome(processes, out + '.mark', cut, self.world.hosts)
            self.expect_no_rest(out)
        finally:
            if cut:
                cut.plug()
        if outcome.happened is None:
            self.fail(f'the fault did not happen: {outcome.codes} {outcome.texts}')
        return outcome

    def check(self, wire, kind, rank, moment, **variables):
        out = self.world.path('matrix', wire, kind, rank, moment, *variables)
        self.judge(wire, kind, rank, moment, self.outcome(wire, kind, rank, moment, out, **variables), out, self.program(kind))

    def expect_no_rest(self, out):
        deadline = time.monotonic() + 20
        for host in self.world.hosts:
            while rest := [line for line in host.processes() if out in line]:
                if time.monotonic() > deadline:
                    host.kill('KILL', out)
                    self.fail(f'{host.name} still runs {rest}')
                time.sleep(0.05)

    def expect_record(self, rank, out):
        """The records of the run name the rank that came late."""
        done = subprocess.run([self.world.tool('dpc-run'), '--read-postmortem', out + '.records'], capture_output=True, text=True)
        if not re.search(rf'^straggler: rank {rank} came [56]\.', done.stdout, re.M):
            self.fail(f'the records do not name rank {rank}: {done.stdout[-800:]}{done.stderr}')

    def judge(self, wire, kind, rank, moment, outcome, out, stem):
        """Fails unless the run ended as it must."""
        host, isRight = rank // 2, False
        if os.path.exists(out + '.safetensors'):
            isRight = runs.read(out + '.safetensors') == runs.read(stem + '.safetensors')
        launchers = range(len(outcome.codes))
        # A dead launcher says nothing, and a host that is cut off may say that it sees no other one.
        silent = [host] if kind in ('launcher', 'link') and wire == 'tcp' else []
        # Over MPI, the launcher is mpirun. It may wait for a host that it does not reach.
        if outcome.hangs != silent and outcome.hangs and not (wire == 'mpi' and kind == 'link'):
            self.fail(f'launchers {outcome.hangs} hang')
        if all(outcome.codes[index] == 0 for index in launchers if index not in silent):
            if not may_succeed(kind, moment):
                self.fail('the run succeeded')
            if not isRight:
                self.fail('other results')
            if kind == 'straggler' and moment in ('first', 'collective'):
                self.expect_record(rank, out)
            return
        if kind == 'straggler':
            self.fail(f'{outcome.codes} {outcome.texts}')
        limit = MPI_SECONDS if is_unknown_to_mpi(wire, kind, moment) else OTHER_SECONDS
        if wire == 'tcp':  # over MPI, mpirun takes its time to end
            limit = SECONDS.get(kind, limit)
        if outcome.took > limit:
            self.fail(f'took {outcome.took:.1f} s, not {limit}')
        for index in launchers:
            if index not in silent:
                self.expect_name(wire, kind, rank, moment, index, outcome)

    def expect_name(self, wire, kind, rank, moment, index, outcome):
        text, name = outcome.texts[index], self.world.hosts[rank // 2].name
        errors = [line for line in text.splitlines() if line.startswith('error')]
        if outcome.codes[index] == 0:
            self.fail(f'launcher {index} succeeded: {outcome.codes}, {outcome.texts}')
        named = re.search(rf'rank {rank}\b', text) or re.search(rf'node {rank // 2} \({name}\)', text)
        if wire == 'mpi':
            named = named or name in text or f'from {self.world.hosts[rank // 2].address} for' in text or re.search(
                rf'Process name: \[\[\d+,\d+\],{rank}\]', text)
        if kind in SIGNALS and outcome.codes[index] == 130:
            named = named or 'interrupted' in text
        # MPICH ends all ranks without a word if one of its own processes dies, or a rank ends without MPI_Finalize.
        if outcome.launcher == 'mpirun.mpich' and kind in ('launcher', 'exit0', 'exit1'):
            named = True
        # Without dpc-run nobody weighs the words of a rank that has lost its connections against those of the others.
        if wire == 'mpi' and (kind == 'reset' or (moment == 'end' and kind in LINKS)):
            named = True
        if is_unknown_to_mpi(wire, kind, moment):
            named = named or 'MPI' in text or kind == 'link'
        # A rank without memory may not reach its launcher, and prints its failure itself.
        if not named or (len(errors) > 1 and wire == 'tcp' and kind != 'memory'):
            self.fail(f'launcher {index} does not name rank {rank} in one line: {text.strip()[-3000:]}')


def tests(world, links):
    """(name, check) of the faults of links between hosts, which disturb other runs, or of all other faults. The check of a fault that
    cannot happen is None."""
    matrix, isLong = Matrix(world), bool(os.environ.get('DPC_LONG'))
    wires = WIRES if runs.mpiruns(world) else WIRES[:1]
    for number, (kind, (rank, moment, wire)) in enumerate(itertools.product(KINDS, itertools.product(RANKS, MOMENTS, WIRES))):
        if wire not in wires or not (isLong or (number + number // 36) % 8 == 0) or (kind == 'link') != links:
            continue
        reason = impossible(kind, moment)
        yield (f'faults {kind} in rank {rank} at {moment} over {wire}' + (f': cannot happen: {reason}' if reason else ''),
               None if reason else lambda kind=kind, rank=rank, moment=moment, wire=wire: matrix.check(wire, kind, rank, moment))
    if not links:
        yield ('faults count in rank 3, after which rank 5 has a failure of its own',
               lambda: matrix.check('tcp', 'count', 3, 'collective', DPC_TEST_LATE_RANK='5'))


def faults_of_links(world):
    return tests(world, links=True)


def faults_of_ranks(world):
    return tests(world, links=False)
