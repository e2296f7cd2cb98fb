"""Ranks that die, freeze or leave, and launchers that are interrupted."""
import contextlib
import os
import signal
import time

from harness import FOREVER, Job, checkpoints_in, expect, state_of, steps_in, wait_until


def starts(tests):
    """The start: a rank that never joins."""
    for fault, words in (('1:kill -KILL $$', ('rank 1 died', 'signal 9')),
                         ('0:kill -SEGV $$', ('rank 0 died', 'signal 11')),
                         ('3:kill -KILL $$', ('rank 3 died', 'signal 9'))):
        ranks = 4 if fault[0] == '3' else 2
        yield f'rank dies before it joins, {fault}', lambda a=(ranks, fault, words): \
            tests.start(a[0], FOREVER, fault=a[1]).expect_cause(3, a[2], 4)
    yield 'rank ends before it joins', lambda: \
        tests.start(2, FOREVER, fault='1:sleep 0.5; exit 0').expect_cause(3, ('rank 1', 'before it had joined'), 12)
    yield 'rank fails before it joins', lambda: \
        tests.start(2, FOREVER, fault='1:exit 7').expect_cause(7, ('rank 1', 'exit code 7'), 4)
    for rank in (0, 1):
        yield f'rank {rank} is frozen before it joins', lambda a=rank: \
            tests.start(2, FOREVER, fault=f'{a}:kill -STOP $$').expect_cause(3, (f'rank {a} is frozen',), 15)

    def late():
        job = tests.start(2, '--steps=3', fault='1:kill -STOP $$')
        wait_until(lambda: any(state_of(p) == 'T' for p in job.members()), 'rank 1 is stopped')
        time.sleep(1)
        for pid in job.members():
            os.kill(pid, signal.SIGCONT)
        expect(job.end() == 0 and not job.errors(), job.errors())
    yield 'rank that goes on in time', late

    def interrupted():
        job = tests.start(2, FOREVER, fault='1:sleep 60')
        job.rank(0)
        os.kill(job.pid, signal.SIGINT)
        job.expect_cause(130, ('interrupted',), 6)
    yield 'interrupt before the ranks have joined', interrupted

    def asked(script, words, code=1, number=None, within=15):
        program = os.path.join(tests.room(), 'program')
        with open(program, 'w') as file:
            file.write('#!/bin/sh\n' + script + '\n')
        os.chmod(program, 0o755)
        job = Job(tests.room(), [os.path.join(tests.tools, 'dpc-run'), program])
        if number:
            wait_until(lambda: len(job.members()) > 1, 'the program runs')
            os.kill(job.pid, number)
        job.expect_cause(code, words, within)
    yield 'print-ranks: no answer', lambda: asked('sleep 100', ('--print-ranks within', '-n'))
    yield 'print-ranks: an answer, but no end', lambda: asked('echo 2; exec sleep 100', ('--print-ranks within',))
    yield 'print-ranks: endless answer', lambda: asked('exec yes', ('no program made by dpc-compile',), within=5)
    yield 'print-ranks: interrupted', lambda: asked('sleep 100', ('interrupted',), 130, signal.SIGINT, 5)


def endings(tests):
    """A run that trains, and is ended."""
    for ranks, victim, number in ((2, 0, signal.SIGKILL), (4, 2, signal.SIGKILL), (4, 3, signal.SIGSEGV)):
        def killed(ranks=ranks, victim=victim, number=number):
            job = tests.start(ranks, FOREVER)
            job.trains()
            os.kill(job.rank(victim), number)
            job.expect_cause(3, (f'rank {victim} died', f'signal {int(number)}'))
        yield f'rank {victim} of {ranks} is killed by {number.name}', killed

    def frozen():
        job = tests.start(2, FOREVER)
        job.trains()
        begin = time.monotonic()
        os.kill(job.rank(1), signal.SIGSTOP)
        job.expect_cause(3, ('rank 1 is frozen',))
        expect(time.monotonic() - begin < 15, 'took', time.monotonic() - begin)
    yield 'rank is frozen', frozen

    def two_at_once():
        job = tests.start(4, FOREVER)
        job.trains()
        for pid in [job.rank(1), job.rank(2)]:
            with contextlib.suppress(ProcessLookupError):  # the second one may have ended with the first
                os.kill(pid, signal.SIGKILL)
        job.expect_cause(3, ('died',))
    yield 'two ranks are killed', two_at_once

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        def interrupted(number=number):
            room = tests.room()
            job = tests.start(2, FOREVER, f'--checkpoint={room}/ck', room=room)
            job.trains()
            os.kill(job.pid, number)
            job.expect_cause(130, ('interrupted after step', 'checkpoint written'), 20)
            expect(len(checkpoints_in(room)) == 1, checkpoints_in(room))
        yield f'launcher gets {number.name}', interrupted

    def terminated(whom):
        """SIGTERM, as schedulers send it, to some or all processes of a run."""
        room = tests.room()
        job = tests.start(4, FOREVER, f'--checkpoint={room}/ck', room=room)
        job.trains()
        for pid in {'all': job.members(), 'ranks': [job.rank(r) for r in range(4)]}.get(whom) or [job.rank(int(whom))]:
            with contextlib.suppress(ProcessLookupError):  # the first signals may have ended the run
                os.kill(pid, signal.SIGTERM)
        job.expect_cause(130, ('interrupted after step', 'checkpoint written'), 20)
        expect(len(checkpoints_in(room)) == 1, checkpoints_in(room))
    for whom in ('0', '2', 'ranks', 'all'):
        yield f'SIGTERM for {whom}', lambda whom=whom: terminated(whom)

    def frozen_early():
        job = tests.start(2, FOREVER, '--frozen=5', fault='1:kill -STOP $$')
        job.expect_cause(3, ('rank 1 is frozen', 'for 5 s'), 9.5)
    yield 'rank is frozen before it joins, with --frozen', frozen_early

    def interrupted_and_frozen():
        job = tests.start(2, FOREVER)
        job.trains()
        os.kill(job.rank(1), signal.SIGSTOP)
        os.kill(job.pid, signal.SIGINT)
        time.sleep(0.5)
        os.kill(job.pid, signal.SIGINT)
        job.expect_cause(130, ('interrupted twice',), 20)
    yield 'launcher is interrupted twice', interrupted_and_frozen

    def launcher_killed():
        job = tests.start(4, FOREVER)
        job.trains()
        os.kill(job.pid, signal.SIGKILL)
        job.expect_cause(-9, ('the launcher died',), 20)
    yield 'launcher is killed', launcher_killed

    def own_reason():
        tests.start(4, '--steps=3', '--save-params=/no/such/folder/p').expect_cause(5, ('/no/such/folder/p',), 20)
        tests.start(4, '--steps=zero').expect_cause(2, ('--steps',), 20)
        tests.start(2, '--steps=3', command=[tests.program(4), f'--data={tests.data}']).expect_cause(
            1, ('compiled for 4 ranks',), 20)
    yield 'reason of a rank\'s own', own_reason


def logs(tests):
    """Ranks without a launcher, and a run that goes on again and again."""
    def by_hand():
        """Ranks without a launcher: one of them tells."""
        room = tests.room()
        port = str(20000 + os.getpid() % 20000)
        job = Job(room, ['/bin/sh', '-c', 'for r in 0 1 2 3; do RANK=$r WORLD_SIZE=4 MASTER_ADDR=localhost '
                         f'MASTER_PORT={port} "$PROGRAM" --data={tests.data} {FOREVER} & done; wait'],
                  {'PROGRAM': tests.program(4)})
        job.trains()
        os.kill(job.rank(2), signal.SIGKILL)
        job.expect_cause(0, ('rank 2 died',))
    yield 'ranks without a launcher', by_hand

    def restarted():
        """A run that is killed again and again has each step once in its log."""
        room = tests.room()
        options = [f'--checkpoint={room}/ck', f'--log={room}/log', '--checkpoint-every=1', '--resume']
        for wait in (0.05, 0.13, 0.21, 0.34):
            job = tests.start(2, '--steps=100000', *options, room=room)
            job.trains()
            time.sleep(wait)
            os.kill(job.pid if wait < 0.2 else job.rank(1), signal.SIGKILL)
            job.end()
        last = max(int(name[5:]) for name in checkpoints_in(room) if name.startswith('step-'))
        job = tests.start(2, f'--steps={last + 5}', *options, room=room)
        expect(job.end() == 0, job.errors())
        steps = steps_in(f'{room}/log')
        expect(steps == list(range(1, last + 6)), f'{len(steps)} lines for {last + 5} steps')
        expect(not [n for n in checkpoints_in(room) if n.startswith('.making')], checkpoints_in(room))
    yield 'log of a run that is killed', restarted
