"""Faults that leave no trace without the flight recorder or the comparison of state."""
import functools
import os
import signal
import threading
import time

from harness import FLAGS, FOREVER, MODEL, ROOT, Job, checkpoints_in, damage, expect

STRAGGLER_SECONDS = 0.7


class Faulty:
    """The mlp program with the main function of step_fault.c."""

    def __init__(self, tests, *flags):
        self.tests, self.flags = tests, flags
        self.lock = threading.Lock()
        self.program = None

    def build(self):
        with self.lock:
            if not self.program:
                stem = os.path.join(self.tests.room(), 'faulty')
                self.tests.tool('dpc-compile', MODEL, *FLAGS, *self.flags, '--emit=object', '-o', stem + '.o')
                self.tests.link('step_fault.c', stem)
                self.program = stem
            return self.program

    def start(self, fault, *options, state='', room=None, variables=None):
        command = [self.build(), f'--data={self.tests.data}', '--no-shuffle', *options]
        return Job(room or self.tests.room(), [os.path.join(self.tests.tools, 'dpc-run'), *command],
                   {'DPC_TEST_FAULT': fault, 'DPC_TEST_STATE': state, **(variables or {})})

    def start_by_hand(self, room, fault, *options, state=''):
        """A job for each of two ranks."""
        return [Job(room, [self.build(), f'--data={self.tests.data}', '--no-shuffle', *options],
                    {'DPC_TEST_FAULT': fault, 'DPC_TEST_STATE': state, 'RANK': str(rank), 'WORLD_SIZE': '2',
                     'DPC_RENDEZVOUS': f'file://{room}/meeting'}) for rank in range(2)]


def read(tests, *folders):
    """What dpc-run says about the records in some folders."""
    return tests.tool('dpc-run', '--read-postmortem', *folders)


def expect_lines(text, *beginnings):
    for beginning in beginnings:
        expect(any(line.startswith(beginning) for line in text.splitlines()), f'no line "{beginning}" in', text)


def records(tests):
    """What remains of a run that was ended, and what dpc-run reads from it."""
    four = Faulty(tests, '--mesh=data=4')

    def killed(comm):
        room = tests.room()
        job = four.start('', FOREVER, f'--comm={comm}', f'--postmortem={room}/pm', room=room)
        job.trains()
        os.kill(job.rank(2), signal.SIGKILL)
        job.expect_cause(3, ('rank 2 died',))
        expect_lines(read(tests, f'{room}/pm'), 'first divergent operation: none', '  rank 2 on ',
                     'conclusion: rank 2 did not end by itself; its last operation, ')

    def told():
        job = tests.start(4, FOREVER)
        job.trains()
        os.kill(job.rank(1), signal.SIGKILL)
        job.expect_cause(3, ('rank 1 died', 'signal 9', 'its last operation, ', ', step '))

    def launcher_killed():
        room = tests.room()
        job = four.start('', FOREVER, f'--postmortem={room}/pm', room=room)
        job.trains()
        os.kill(job.pid, signal.SIGKILL)
        job.end()
        text = read(tests, f'{room}/pm')
        expect(text.count('its last operation, ') >= 4, text)

    def divergent(comm):
        room = tests.room()
        job = four.start('max:1:0:0', '--steps=5', f'--comm={comm}', f'--postmortem={room}/pm', room=room)
        job.expect_cause(3, ('rank 1 does not follow the plan', 'all-reduce max'))
        expect_lines(read(tests, f'{room}/pm'),
                     'first divergent operation: rank 1 does not follow the plan: it starts all-reduce max of',
                     'conclusion: rank 1 does not follow the plan')

    def slow():
        room = tests.room()
        job = four.start(f'sleep:3:5:{int(STRAGGLER_SECONDS * 1000)}', '--steps=9', f'--postmortem={room}/pm',
                         f'--save-params={room}/params', room=room)
        expect(job.end() == 0 and not job.errors(), job.errors())
        usual = four.start('', '--steps=9', f'--save-params={room}/usual', room=room)
        expect(usual.end() == 0 and not usual.errors(), usual.errors())
        with open(f'{room}/params', 'rb') as got, open(f'{room}/usual', 'rb') as want:
            expect(got.read() == want.read(), 'the straggler changed the results')
        expect_lines(read(tests, f'{room}/pm'), 'straggler: rank 3 came 0.', 'conclusion: all ranks ended well, but rank 3')

    def stopped():
        room = tests.room()
        job = four.start('', FOREVER, f'--postmortem={room}/pm', room=room)
        job.trains()
        victim = job.rank(1)
        os.kill(victim, signal.SIGSTOP)
        time.sleep(2 * STRAGGLER_SECONDS)
        os.kill(victim, signal.SIGCONT)
        time.sleep(STRAGGLER_SECONDS)
        os.kill(job.pid, signal.SIGINT)
        expect(job.end() == 130, job.errors())
        expect_lines(read(tests, f'{room}/pm'), 'straggler: rank 1 stood still for ')

    def two_folders():
        room = tests.room()
        job = four.start('', '--steps=3', f'--postmortem={room}/pm', room=room)
        expect(job.end() == 0, job.errors())
        os.mkdir(f'{room}/other')
        for rank in (2, 3):
            os.rename(f'{room}/pm/rank-{rank}.ops', f'{room}/other/rank-{rank}.ops')
        expect_lines(read(tests, f'{room}/pm'), 'conclusion: no record of ranks 2, 3')
        expect_lines(read(tests, f'{room}/pm', f'{room}/other'), 'conclusion: all ranks ended well')

    def refused():
        room = tests.room()
        job = four.start('', '--steps=3', f'--postmortem={room}/pm', room=room)
        expect(job.end() == 0, job.errors())
        damage(f'{room}/pm/rank-1.ops', 24)

        def fails(words, code, *arguments):
            Job(room, [os.path.join(tests.tools, 'dpc-run'), *arguments]).expect_cause(code, words)
        fails(('rank-1.ops', 'damaged'), 1, '--read-postmortem', f'{room}/pm')
        fails((f'{room}/none', 'cannot be read'), 1, '--read-postmortem', f'{room}/none')
        fails((room, 'has no record'), 1, '--read-postmortem', room)
        fails(('--read-postmortem needs the folders',), 2, '--read-postmortem')
        fails(('--read-postmortem', 'no other options'), 2, '-n', '2', '--read-postmortem', room)
        with open(f'{room}/file', 'w'):
            pass
        four.start('', '--steps=3', f'--postmortem={room}/file').expect_cause(5, (f'{room}/file',))

    def limited():
        job = Job(tests.room(), ['sh', '-c', 'ulimit -f 8; exec "$@"', 'sh', os.path.join(tests.tools, 'dpc-run'),
                                 tests.program(2), f'--data={tests.data}', '--steps=3',
                                 '--comm=sockets'])
        expect(job.end() == 0 and not job.errors(), job.errors())

    for comm in ('local', 'sockets'):
        yield f'recorder: rank is killed, {comm}', functools.partial(killed, comm)
        yield f'recorder: rank starts another operation, {comm}', functools.partial(divergent, comm)
    yield 'recorder: the launcher tells the last operation', told
    yield 'recorder: launcher is killed', launcher_killed
    yield 'recorder: rank is slow', slow
    yield 'recorder: rank stands still', stopped
    yield 'recorder: folders of two hosts', two_folders
    yield 'recorder: what cannot be read', refused
    yield 'recorder: a limit on the size of files', limited


def states(tests):
    """Bit flips and gradients that are not finite."""
    two, four = Faulty(tests, '--mesh=data=2'), Faulty(tests, '--mesh=data=4')
    divided = Faulty(tests, '--mesh=data=4', '--zero=2')
    devices = Faulty(tests, '--mesh=data=3', '--target=cuda', '--ptxas=off')
    replicas = Faulty(tests, '--mesh=replica=2,data=2', '--zero=3:data')
    mesh = Faulty(tests, '--mesh=data=2,model=2', '--shard=fc1.weight=model,-')

    def flipped(comm, victim, state, bit):
        four.start(f'flip:{victim}:7:{bit}', FOREVER, f'--comm={comm}', '--check-state=10', state=state).expect_cause(
            3, (f'rank {victim} holds other values of {state.split("|")[-1]} than ranks ' +
                ', '.join(str(r) for r in range(4) if r != victim), 'after step 10'))

    def flipped_of_two():
        two.start('flip:1:3:0', FOREVER, '--check-state=5', state='fc2.weight').expect_cause(
            3, ('ranks 0, 1 hold different values of fc2.weight after step 5',))

    def flipped_on_mesh(faulty, victim, state, holders):
        """Only the ranks that hold the same shard are compared."""
        faulty.start(f'flip:{victim}:3:7', FOREVER, '--check-state=3', state=state).expect_cause(
            3, (f'ranks {holders} hold different values of {state.split("|")[-1]} after step 3',))

    def by_hand():
        room = tests.room()
        jobs = two.start_by_hand(room, 'flip:1:3:0', FOREVER, '--check-state=5', state='fc2.weight')
        expect([job.end() for job in jobs] == [3, 3], [job.errors() for job in jobs])
        lines = [line for job in jobs for line in job.errors().splitlines()]
        expect(len(lines) == 1 and 'hold different values of fc2.weight' in lines[0], lines)

    def before_checkpoints():
        room = tests.room()
        four.start('flip:2:7:11', FOREVER, '--check-state=1000', f'--checkpoint={room}/ck', '--checkpoint-every=4',
                   state='fc3.bias', room=room).expect_cause(3, ('rank 2 holds other values of fc3.bias', 'after step 8'))
        expect('step-8' not in checkpoints_in(room), checkpoints_in(room))

    def on_devices(comm):
        """Devices are emulated. With --comm=local, tensors move through the hosts."""
        libraries = os.environ.get('DPC_CUDA_LIBRARIES') or os.path.join(ROOT, 'build', 'release', 'cuda-emulator')
        expect(os.path.isdir(libraries), libraries, 'is not built')
        room = tests.room()

        def start(fault):
            return devices.start(fault, '--steps=4', f'--comm={comm}', f'--postmortem={room}/pm', '--check-state=2',
                                 state='fc1.weight', room=room, variables={'DPC_CUDA_LIBRARIES': libraries})
        start('init:1:0:7').expect_cause(3, ('rank 1 holds other values of fc1.weight than ranks 0, 2 after step 2',),
                                         known=('cuda emulator',))
        job = start('')
        expect(job.end(60) == 0, job.errors())
        expect_lines(read(tests, f'{room}/pm'), 'conclusion: all ranks ended well')

    def healed():
        """With ZeRO the owner of a shard overwrites the copies in each step."""
        job = divided.start('flip:0:3:5', '--steps=10', '--check-state=10', state='fc1.weight')
        expect(job.end() == 0 and not job.errors(), job.errors())

    def same():
        room = tests.room()
        for number, options in enumerate(((), ('--check-state=2', '--check-gradients'))):
            job = mesh.start('', '--steps=9', f'--save-params={room}/{number}', *options, room=room)
            expect(job.end() == 0 and not job.errors(), job.errors())
        with open(f'{room}/0', 'rb') as plain, open(f'{room}/1', 'rb') as checked:
            expect(plain.read() == checked.read(), '--check-state or --check-gradients changed the results')

    def not_finite(faulty, victim, element, tensor, operation):
        faulty.start(f'nan:{victim}:3:{element}', FOREVER, '--check-gradients').expect_cause(
            4, (f'step 3: rank {victim}: the gradient of {tensor} is NaN ({operation} of buffer ',))

    def not_finite_warned():
        job = four.start('nan:1:3:1900', '--steps=5', '--check-gradients', '--nan=warn')
        code = job.end()
        expect('warning: step 3: rank 1: the gradient of fc1.weight is NaN' in job.text(), job.text(), job.errors())
        expect(code == 0, 'exit', code)

    def unchecked():
        """Without --check-gradients, the NaN is noticed by the loss of the next step. A note names the option."""
        job = four.start('nan:1:3:1900', FOREVER, '--check-state=100')
        job.expect_cause(4, ('step 4: loss', 'NaN'))
        expect(job.text().count('note: --check-gradients names the rank') == 1, job.text())

    for comm, victim, state, bit in (('local', 1, 'fc1.weight', 3), ('sockets', 3, 'exp_avg|fc2.bias', 31),
                                     ('local', 0, 'fc3.weight', 500)):
        yield f'state: bit flip in {state}, {comm}', functools.partial(flipped, comm, victim, state, bit)
    for comm in ('nccl', 'local'):
        yield f'state: other bits on a device, {comm}', functools.partial(on_devices, comm)
    yield 'state: bit flip, two ranks', flipped_of_two
    yield 'state: bit flip in a shard', functools.partial(flipped_on_mesh, mesh, 3, 'fc1.weight', '1, 3')
    yield 'state: bit flip in a replica of a shard', functools.partial(flipped_on_mesh, replicas, 2, 'exp_avg|fc3.bias', '0, 2')
    yield 'state: bit flip, ranks started by hand', by_hand
    yield 'state: bit flip before a checkpoint', before_checkpoints
    yield 'state: bit flip in a copy that is overwritten', healed
    yield 'state: the check changes nothing', same
    for victim, element, tensor in ((0, 17, 'fc3.bias'), (2, 700, 'fc2.weight'), (3, 1900, 'fc1.weight')):
        yield f'state: NaN in the gradient of {tensor}', functools.partial(
            not_finite, four, victim, element, tensor, 'all-reduce')
    yield 'state: NaN with ZeRO', functools.partial(not_finite, divided, 1, 700, 'fc2.weight', 'reduce-scatter')
    yield 'state: NaN with --nan=warn', not_finite_warned
    yield 'state: NaN without the check', unchecked
