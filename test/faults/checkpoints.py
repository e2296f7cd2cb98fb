"""Checkpoints: damaged, misfit, linked, rotated, half written."""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

from harness import FOREVER, Job, Skipped, checkpoints_in, damage, expect, steps_in, wait_until


STATE = 'state-0.safetensors'
DAMAGED, MISFIT = 'skipping a damaged checkpoint', 'skipping a checkpoint that does not fit'


def trained(tests, *options):
    """A room with checkpoints 2, 4 and 6."""
    room = tests.room()
    tests.train(room, '--steps=6', '--checkpoint-every=2', *options)
    return room


def manifest(**changes):
    def spoil(path):
        with open(f'{path}/manifest.json') as file:
            contents = json.load(file)
        contents.update(changes)
        with open(f'{path}/manifest.json', 'w') as file:
            file.write(json.dumps(contents) + '\n')
    return spoil


def truncated(path):
    with open(f'{path}/manifest.json', 'r+') as file:
        file.truncate(20)


def short(path):
    with open(f'{path}/{STATE}', 'r+') as file:
        file.truncate(100)


def linked_folder(path):
    os.rename(path, path + '.elsewhere')
    os.symlink(path + '.elsewhere', path)


def linked_file(name):
    def spoil(path):
        os.rename(f'{path}/{name}', f'{path}.{name}')
        os.symlink(f'{path}.{name}', f'{path}/{name}')
    return spoil


def pipe(path):
    os.remove(f'{path}/{STATE}')
    os.mkfifo(f'{path}/{STATE}')


def other_shape(path):
    """The same names, another model: one tensor is transposed in the manifest."""
    with open(f'{path}/manifest.json') as file:
        tensors = json.load(file)['tensors']
    tensor = next(t for t in tensors if len(set(t['shape'])) == 2)
    tensor['shape'].reverse()
    manifest(tensors=tensors)(path)


def resumes(tests):
    """Checkpoints that are damaged, or that do not fit, are passed over."""
    def resumed_past(name, spoil, note, step=4):
        def check():
            room = trained(tests)
            path = os.path.join(room, 'ck', 'step-6')
            spoil(path)
            errors = tests.train(room, '--steps=7', '--resume')
            expect(errors.count('\n') == 1 and note in errors and 'step-6' in errors, errors)
            expect(steps_in(f'{room}/log') == list(range(1, 8)), steps_in(f'{room}/log'))
            with open(os.path.join(room, 'ck', 'step-7', 'manifest.json')) as file:
                expect(json.load(file)['step'] == 7, 'not step 7')
            expect(os.path.lexists(path), 'step-6 is gone')
        return f'checkpoint: {name}', check

    def foreign(path):
        room = tests.room()
        job = tests.start(1, '--steps=6', f'--checkpoint={room}/ck', room=room,
                          command=[tests.program('sgd'), f'--data={tests.data}'])
        expect(job.end() == 0, job.errors())
        shutil.rmtree(path)
        shutil.copytree(f'{room}/ck/step-6', path)

    yield resumed_past('flipped bit', lambda p: damage(f'{p}/{STATE}'), DAMAGED)
    yield resumed_past('short state', short, DAMAGED)
    yield resumed_past('no state', lambda p: os.remove(f'{p}/{STATE}'), DAMAGED)
    yield resumed_past('truncated manifest', truncated, DAMAGED)
    yield resumed_past('no manifest', lambda p: os.remove(f'{p}/manifest.json'), DAMAGED)
    yield resumed_past('unknown version', manifest(version=3), 'checkpoint version 3')
    yield resumed_past('another seed', manifest(seed=5), MISFIT)
    yield resumed_past('another optimizer', foreign, MISFIT)
    yield resumed_past('another shape', other_shape, MISFIT)
    yield resumed_past('linked folder', linked_folder, 'is a symbolic link')
    yield resumed_past('linked state', linked_file(STATE), 'is a symbolic link')
    yield resumed_past('linked manifest', linked_file('manifest.json'), 'is a symbolic link')
    yield resumed_past('pipe for a state', pipe, 'not a regular file')

    def renamed():
        room = trained(tests)
        os.rename(f'{room}/ck/step-4', f'{room}/ck/step-9')
        errors = tests.train(room, '--steps=10', '--resume', '--checkpoint-every=1')
        expect('manifest is of step 4' in errors.splitlines()[0], errors)
        expect(steps_in(f'{room}/log') == list(range(1, 11)), steps_in(f'{room}/log'))
        # It stood where step 9 belongs: moved, not removed.
        expect(checkpoints_in(room) == ['step-10', 'step-8', 'step-9', 'step-9.aside-1'], checkpoints_in(room))
    yield 'checkpoint: renamed folder', renamed

    def none_left():
        room = trained(tests)
        for step in (2, 4, 6):
            damage(f'{room}/ck/step-{step}/{STATE}')
        lines = tests.train(room, '--steps=7', '--resume', code=1).splitlines()
        expect(len(lines) == 1 and all(f'step-{s}' in lines[0] for s in (2, 4, 6)), lines)
        expect(checkpoints_in(room) == ['step-2', 'step-4', 'step-6'], checkpoints_in(room))
    yield 'checkpoint: none is usable', none_left


def rotations(tests):
    """Which checkpoints a run removes."""
    def rotation():
        room, other = trained(tests), tests.room()
        tests.train(other, '--steps=90', '--checkpoint-every=30', '--seed=5')
        for step in (30, 60, 90):
            shutil.copytree(f'{other}/ck/step-{step}', f'{room}/ck/step-{step}')
        damage(f'{room}/ck/step-4/{STATE}')
        with open(f'{room}/ck/step-2/notes.txt', 'w') as file:
            file.write('mine')
        errors = tests.train(room, '--steps=16', '--resume', '--checkpoint-every=2')
        expect(errors.count(MISFIT) == 3, errors)
        # Newer ones of another run and a damaged one neither count nor go; nor does what holds a file of the user's.
        expect(checkpoints_in(room) == ['step-12', 'step-14', 'step-16', 'step-2', 'step-30', 'step-4', 'step-60',
                                        'step-90'], checkpoints_in(room))
        expect(os.listdir(f'{room}/ck/step-30'), 'step-30 is empty')
    yield 'rotation', rotation

    def unreadable():
        """A checkpoint whose files are sound, but whose manifest lacks elements, is no reason to remove one that can be read."""
        room = trained(tests)
        with open(f'{room}/ck/step-6/manifest.json') as file:
            tensors = json.load(file)['tensors']
        tensors[0]['pieces'] = []
        manifest(tensors=tensors)(f'{room}/ck/step-6')
        errors = tests.train(room, '--steps=11', '--resume', '--checkpoint-every=4')
        expect(DAMAGED in errors, errors)
        expect(checkpoints_in(room) == ['step-11', 'step-4', 'step-6', 'step-8'], checkpoints_in(room))
    yield 'rotation and a checkpoint that cannot be read', unreadable

    def names_like_ours():
        """A copy that the user keeps in an old checkpoint has nearly the name of a file half written, and stays."""
        room = trained(tests)
        for name in ('state-0.safetensors.tmp.old', 'manifest.json.tmp2b'):
            with open(f'{room}/ck/step-2/{name}', 'w') as file:
                file.write('mine')
        tests.train(room, '--steps=14', '--resume', '--checkpoint-every=2')
        expect('step-2' in checkpoints_in(room), checkpoints_in(room))
        expect(len(os.listdir(f'{room}/ck/step-2')) == 4, os.listdir(f'{room}/ck/step-2'))
    yield 'rotation and names like ours', names_like_ours

    def rotation_sees_damage():
        """What is damaged behind the run's back does not count as kept."""
        room = tests.room()
        job = tests.start(1, FOREVER, f'--checkpoint={room}/ck', '--checkpoint-every=1', room=room)
        job.trains()

        def newest():
            names = os.listdir(f'{room}/ck') if os.path.isdir(f'{room}/ck') else []
            return max((int(n[5:]) for n in names if n.startswith('step-')), default=0)
        wait_until(lambda: newest() > 3, 'checkpoints')
        os.kill(job.rank(0), signal.SIGSTOP)
        time.sleep(0.1)
        broken = newest()
        damage(f'{room}/ck/step-{broken}/{STATE}')
        os.kill(job.rank(0), signal.SIGCONT)
        wait_until(lambda: newest() > broken + 6, 'more checkpoints')
        os.kill(job.pid, signal.SIGINT)
        expect(job.end() == 130, job.errors())
        names = checkpoints_in(room)
        expect(f'step-{broken}' in names and len(names) == 4, names)
    yield 'rotation while a checkpoint is damaged', rotation_sees_damage

    def links_in_rotation():
        """A linked folder with an old number is not emptied."""
        room = trained(tests)
        outside = os.path.join(room, 'outside')
        os.rename(f'{room}/ck/step-2', outside)
        os.symlink(outside, f'{room}/ck/step-2')
        tests.train(room, '--steps=12', '--resume', '--checkpoint-every=2')
        expect(sorted(os.listdir(outside)) == ['manifest.json', STATE], os.listdir(outside))
        expect(os.path.islink(f'{room}/ck/step-2'), 'the link is gone')
    yield 'rotation and links', links_in_rotation


def leftovers(tests):
    """What writers leave that are killed or find no room."""
    def unfinished():
        room = trained(tests)

        def make(name):
            os.mkdir(f'{room}/ck/{name}')
            for file in ('state-0.safetensors.tmp77', 'manifest.json'):
                with open(f'{room}/ck/{name}/{file}', 'w') as out:
                    out.write('half')
        ended = subprocess.Popen(['true'])
        ended.wait()
        dead, living = ended.pid, os.getpid()
        make(f'.making-{dead}')
        make(f'.making-{living}')
        # The number of a dead writer that another process has got since.
        young = subprocess.Popen(['sleep', '60'])
        make(f'.making-{young.pid}')
        os.utime(f'{room}/ck/.making-{young.pid}', (1e9, 1e9))
        # A writer of another host has a number that is nobody's here, but it holds a lock.
        make('.making-4194000')
        held = os.open(f'{room}/ck/.making-4194000', os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        outside = os.path.join(room, 'outside')
        os.mkdir(outside)
        with open(f'{outside}/manifest.json', 'w') as out:
            out.write('mine')
        os.symlink(outside, f'{room}/ck/.making-4194001')
        tests.train(room, '--steps=7', '--resume')
        os.close(held)
        young.kill()
        young.wait()
        names = [n for n in checkpoints_in(room) if n.startswith('.making')]
        expect(names == sorted([f'.making-{living}', '.making-4194000', '.making-4194001']), names, dead, young.pid)
        expect(os.listdir(outside) == ['manifest.json'], 'a link was followed')
    yield 'unfinished checkpoints', unfinished

    def not_shared():
        """Ranks that do not see the same folder, as on two machines: here by the folder that they work in."""
        room, other = tests.room(), tests.room()

        def start(fault, *options):
            return Job(room, [os.path.join(tests.tools, 'dpc-run'), '-n', '2', tests.wrapper, f'--data={tests.data}',
                              '--checkpoint=ck', *options], {'FAULT': fault, 'PROGRAM': tests.program(2)}, cwd=room)
        start(f'1:cd {other}', '--steps=2').expect_cause(
            5, ('ck: rank 1 does not see what rank 0 makes there', 'need a folder that they share'), 20)
        expect(checkpoints_in(room) == [], checkpoints_in(room))
        job = start('', '--steps=2')
        expect(job.end() == 0, job.errors())
        start(f'1:cd {other}', '--steps=4', '--resume').expect_cause(1, ('no usable checkpoint: ck: No such file',), 20)
    yield 'checkpoints in a folder that is not shared', not_shared

    def writer_killed():
        """--save-params leaves nothing that the next run does not remove."""
        room = tests.room()
        ended = subprocess.Popen(['true'])
        ended.wait()
        for pid in (ended.pid, os.getpid()):
            with open(f'{room}/p.tmp{pid}', 'w') as file:
                file.write('half')
        job = tests.start(1, '--steps=1', f'--save-params={room}/p', room=room)
        expect(job.end() == 0, job.errors())
        left = [n for n in os.listdir(room) if n.startswith('p')]
        expect(sorted(left) == ['p', f'p.tmp{os.getpid()}'], left)
    yield 'unfinished files', writer_killed

    def disk_full():
        if os.geteuid() != 0:
            raise Skipped('mounting a small disk needs root')
        room = tests.room()
        os.mkdir(f'{room}/ck')
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', f'{room}/ck'], capture_output=True)
        if done.returncode:
            raise Skipped('no small disk can be mounted: ' + done.stderr.decode().strip())
        try:
            tests.train(room, '--steps=2', '--checkpoint-every=1')
            before = checkpoints_in(room)
            with open(f'{room}/ck/filler', 'wb', buffering=0) as file, contextlib.suppress(OSError):
                while file.write(bytes(4096)):
                    pass
            job = tests.start(2, '--steps=4', '--resume', f'--checkpoint={room}/ck', room=room)
            job.expect_cause(5, (f'{room}/ck', 'No space left'), 20)
            os.remove(f'{room}/ck/filler')
            expect(checkpoints_in(room) == before, checkpoints_in(room))
            tests.train(room, '--steps=4', '--resume')
            expect('step-4' in checkpoints_in(room), checkpoints_in(room))
        finally:
            subprocess.run(['umount', f'{room}/ck'], check=True)
    yield 'full disk', disk_full
