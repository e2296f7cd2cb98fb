"""Pipelines with a stage that is killed, freezes or is slow inside a piece."""
import functools
import json
import os
import re
import signal
import subprocess
import threading
import time

from harness import ROOT, Job, expect, state_of, wait_until

MODEL = os.path.join(ROOT, 'test', 'models', 'gpt2', 'model.onnx')
DATA = os.path.join(ROOT, 'test', 'models', 'gpt2', 'data.npz')
FLAGS = ['--loss=cross-entropy', '--optimizer=adamw,lr=0.002,weight-decay=0.01', '--mesh=pipe=4',
         '--microbatches=4']
STAGES = 4
# The pieces of each stage by schedule: the kind and the chunk.
PIECES = {
    'zero-bubble': ('F0 W0', 'F1 B1 W1', 'F2 B2 W2', 'F3 W3'),
    '1f1b': ('F0 B0', 'F1 B1', 'F2 B2', 'F3'),
    'gpipe': ('F0 B0', 'F1 B1', 'F2 B2', 'F3'),
    'interleaved': ('F0 F4 B4 B0', 'F1 F5 B5 B1', 'F2 F6 B6 B2', 'F3 F7 B3'),
    'zero-bubble --chunks=2': ('F0 F7 W7 W0', 'F1 F6 B6 W6 B1 W1', 'F2 F5 B5 W5 B2 W2', 'F3 B3 W3'),
}
# Each kind of piece that the first, a middle and the last stage have. With zero-bubble the first
# stage has no B.
SHORT = [('zero-bubble', 0, 'F0'), ('zero-bubble', 0, 'W0'), ('1f1b', 0, 'B0'),
         ('zero-bubble', 1, 'F1'), ('zero-bubble', 1, 'B1'), ('zero-bubble', 1, 'W1'),
         ('zero-bubble', 3, 'F3'), ('zero-bubble', 3, 'W3')]
COMMS = ('local', 'sockets')
# The short run's cases of time-outs, in which the rank that waits first waits for a rank that only
# waits itself.
TIMEOUTS = [('frozen', 'W3', 'local'), ('hanging', 'F3', 'local'), ('hanging', 'W0', 'local'),
            ('hanging', 'B1', 'sockets'), ('hanging', 'W3', 'sockets')]
STEPS = 4
CALL = 6  # of a piece: microbatch 1 of the second step
STOPS, STOP_SECONDS = 3, 0.3
# The fault of piece_fault.c, how the other ranks describe the stage, options, and the longest time
# of a run. A frozen stage is noticed after ten seconds, or after the time of --timeout. If a piece
# hangs, but its process runs, only the time-out of the waiting ranks can end the run.
LATE = 'has not answered for 3 s, and rank . waits for it'
ENDINGS = {'killed': ('kill', 'died', [], 10), 'frozen': ('stop', 'is frozen', [], 25),
           'frozen with --timeout=3': ('stop', 'is frozen|' + LATE, ['--timeout=3'], 15),
           'hanging with --timeout=3': ('hang', LATE, ['--timeout=3'], 15)}


class Pipeline:
    """The program of a schedule with the main function of piece_fault.c."""

    def __init__(self, tests, schedule):
        self.tests, self.schedule = tests, schedule
        self.lock = threading.Lock()
        self.program = None

    def build(self):
        """At the first call, builds the program and runs it without a fault."""
        with self.lock:
            if self.program:
                return
            stem = os.path.join(self.tests.room(), 'pipeline')
            told = self.tests.tool('dpc-compile', MODEL, *FLAGS,
                                   *f'--schedule={self.schedule}'.split(), '--explain',
                                   '--emit=object', '-o', stem + '.o')
            rows = re.findall(r'^  stage \d+: (.*)$', told, re.M)
            pieces = [{kind + chunk for chunk, kind in re.findall(r'(\d+)([FBW])\d+', row)}
                      for row in rows]
            expect(pieces == [set(names.split()) for names in PIECES[self.schedule]],
                   'other pieces:', rows)
            self.tests.link('piece_fault.c', stem)
            room = self.tests.room()
            job = Job(room, self.launched(stem, room, 'local'))
            expect(job.end() == 0 and not job.errors(), job.errors())
            self.results = results_in(room)
            self.program = stem

    def launched(self, program, room, comm):
        return [os.path.join(self.tests.tools, 'dpc-run'), *command(program, room, comm)]

    def start(self, room, comm, fault, flags=()):
        return Job(room, [*self.launched(self.program, room, comm), *flags],
                   environment(room, fault))

    def start_by_hand(self, room, comm, fault, flags):
        """A job for each rank."""
        return [Job(room, [*command(self.program, room, comm), *flags],
                    {**environment(room, fault), 'RANK': str(rank), 'WORLD_SIZE': str(STAGES),
                     'DPC_RENDEZVOUS': f'file://{room}/meeting'}) for rank in range(STAGES)]


def command(program, room, comm):
    return [program, f'--data={DATA}', '--no-shuffle', f'--steps={STEPS}', f'--comm={comm}',
            f'--log={room}/log', f'--save-params={room}/params']


def environment(room, fault):
    os.makedirs(f'{room}/endings', exist_ok=True)
    return {'DPC_TEST_FAULT': fault, 'DPC_TEST_ENDINGS': f'{room}/endings'}


def fault_of(name, stage, piece, count=1):
    return f'{name}:{stage}:.step.{piece}.:{CALL}:{count}'


def results_in(room):
    """The losses of a run, and the bytes of its parameters."""
    with open(f'{room}/log') as log, open(f'{room}/params', 'rb') as params:
        return [json.loads(line)['loss'] for line in log], params.read()


def check_named(text, victim, verb):
    """The text names the victim, and no other rank, except one that waits for the victim."""
    expect(re.fullmatch(f'(error: )?rank {victim} ({verb})((?!rank).)*', text.strip()),
           f'not only "rank {victim} {verb}" in', text)


def check_endings(room, victim, verb):
    """Each other rank has exited with 3, and its message names the victim."""
    others = [str(rank) for rank in range(STAGES) if rank != victim]
    found = sorted(os.listdir(f'{room}/endings'))
    expect(found == others, f'ranks {found} have ended, not {others}')
    for rank in others:
        with open(f'{room}/endings/{rank}') as file:
            code, text = file.read().split(' ', 1)
        expect(code == '3', f'rank {rank} exits with {code}:', text)
        check_named(text, victim, verb)


def check_nothing_left(room):
    """The folder in which the ranks met is gone. Their shared memory has no name, so it is gone
    with the processes. A job of another test may be about to start on emulated devices, which have
    names for a moment."""
    expect(not os.path.exists(f'{room}/meeting'), 'the meeting is left')
    left = [name for name in os.listdir('/dev/shm') if 'dpc' in name and 'emulated' not in name]
    expect(not left, left)


def pipelines(tests):
    """A stage is killed, freezes or is slow inside a piece."""
    programs = {schedule: Pipeline(tests, schedule) for schedule in PIECES}

    def ended(ending, schedule, stage, piece, comm):
        """The launcher and all other ranks exit with 3 and name the stage."""
        pipeline, room = programs[schedule], tests.room()
        pipeline.build()
        fault, verb, flags, seconds = ENDINGS[ending]
        job = pipeline.start(room, comm, fault_of(fault, stage, piece), flags)
        job.expect_cause(3, (), seconds)
        check_named(job.errors(), stage, verb)
        check_endings(room, stage, verb)
        check_nothing_left(room)

    def ended_by_hand(ending, schedule, stage, piece, comm):
        """Without a launcher, all other ranks exit with 3, and one of them prints the message."""
        pipeline, room = programs[schedule], tests.room()
        pipeline.build()
        fault, verb, flags, seconds = ENDINGS[ending]
        jobs = pipeline.start_by_hand(room, comm, fault_of(fault, stage, piece), flags)
        try:
            others = [job for rank, job in enumerate(jobs) if rank != stage]
            codes = [job.end(seconds) for job in others]
            expect(codes == [3] * len(others), 'exit codes', codes)
            if ending != 'killed':
                expect(fault == 'hang' or state_of(jobs[stage].pid) == 'T',
                       f'stage {stage} is not stopped')
                os.kill(jobs[stage].pid, signal.SIGKILL)
            expect(jobs[stage].end() == -signal.SIGKILL, f'stage {stage} was not killed')
            lines = [line for job in others for line in job.errors().splitlines()]
            expect(len(lines) == 1, f'{len(lines)} lines for one cause:', lines)
            check_named(lines[0], stage, verb)
            check_endings(room, stage, verb)
            check_nothing_left(room)
        finally:
            for job in jobs:
                job.destroy()

    def slow(schedule, stage, piece, comm):
        """The stage is stopped for a moment in several microbatches. The run has the losses and
        parameters of an undisturbed run."""
        pipeline, room = programs[schedule], tests.room()
        pipeline.build()
        job = pipeline.start(room, comm, fault_of('stop', stage, piece, STOPS))
        rank = job.rank(stage)
        for number in range(STOPS):
            wait_until(lambda: state_of(rank) == 'T', f'stage {stage} is stopped, {number}')
            time.sleep(STOP_SECONDS)
            os.kill(rank, signal.SIGCONT)
        expect(job.end() == 0 and not job.errors(), job.errors())
        expect(results_in(room) == pipeline.results, 'other losses or parameters')
        check_nothing_left(room)

    is_long = os.environ.get('DPC_LONG') == '1'
    every = [(schedule, stage, piece) for schedule, stages in PIECES.items()
             for stage, names in enumerate(stages) for piece in names.split()]
    for number, (schedule, stage, piece) in enumerate(every if is_long else SHORT):
        for at, comm in enumerate(COMMS):
            # A short run takes one of the transports for what takes long, and the other one for
            # runs without a launcher. One of these freezes.
            is_chosen = number % len(COMMS) == at
            place = (schedule, stage, piece, comm)
            words = f'{piece} of stage {stage}, {schedule}, {comm}'
            yield f'pipeline: killed in {words}', functools.partial(ended, 'killed', *place)
            yield f'pipeline: slow in {words}', functools.partial(slow, *place)
            for kind in ('frozen', 'hanging'):
                if is_long or (kind, piece, comm) in TIMEOUTS:
                    ending = kind + ' with --timeout=3'
                    yield f'pipeline: {ending} in {words}', functools.partial(ended, ending, *place)
            if is_long or is_chosen:
                yield f'pipeline: frozen in {words}', functools.partial(ended, 'frozen', *place)
            if is_long or not is_chosen:
                yield f'pipeline: killed without a launcher in {words}', \
                    functools.partial(ended_by_hand, 'killed', *place)
            if is_long or (piece, comm) == ('B1', 'sockets'):
                yield f'pipeline: frozen without a launcher in {words}', \
                    functools.partial(ended_by_hand, 'frozen', *place)
            if is_long or (piece, comm) == ('W0', 'sockets'):
                ending = 'hanging with --timeout=3'
                yield f'pipeline: {ending} without a launcher in {words}', \
                    functools.partial(ended_by_hand, ending, *place)
