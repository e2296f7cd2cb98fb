"""Tests `files ..`: a file or a folder that the hosts do not share is found before the first step."""
import itertools
import os
import re

from runs import ends, expect, Failed, interp, read, STEPS, training

OWN = '/dev/shm/files'


def files(world):
    """Removes the files of the hosts after each test."""
    def cleaned(check):
        try:
            check()
        finally:
            for host in world.hosts:
                host.do(f'rm -rf {OWN}')

    yield from ((name, lambda check=check: cleaned(check)) for name, check in cases(world))


def cases(world):
    """Hosts with other files under one path. OWN is each host's own."""
    program, hosts = world.program('gpt2', ['--mesh=data=6']), world.hosts
    source = os.path.join(interp.MODELS, 'gpt2', 'data.npz')
    names = [re.escape(host.name) for host in hosts]
    out, numbers = world.path('files'), itertools.count()

    def put(host, path, change=''):
        host.do(f'mkdir -p {os.path.dirname(path)} && cp {source} {path}' + (f' && {change}' if change else ''))

    def refuse(code, guilty, text, *options, data=source):
        """Expects that no step is made, and that all hosts name the guilty one."""
        log = world.path('files', next(numbers), 'jsonl')
        results = ends(world.launch(program, f'--data={data}', f'--steps={STEPS}', f'--log={log}', *options))
        expect(results, code, [text if index == guilty else rf'node {guilty} \({names[guilty]}\): {text}'
                               for index in range(len(hosts))])
        if os.path.exists(log) and os.path.getsize(log):
            raise Failed(f'makes steps: {read(log)}')

    def lacking(guilty):
        path = f'{OWN}/lacking-{guilty}/data.npz'
        for host in hosts:
            if host.index != guilty:
                put(host, path)
        ranks = f'ranks {2 * guilty}-{2 * guilty + 1}'
        refuse(5, guilty, rf'host {names[guilty]} \({ranks}\) lacks the file {path}, which host {names[1 if guilty == 0 else 0]} ',
               data=path)

    def other(change, text):
        path = f'{OWN}/other-{next(numbers)}/data.npz'
        for host in hosts:
            put(host, path, change.format(path) if host.index == 2 else '')
        refuse(1, 2, rf'host {names[2]} \(ranks 4-5\): {path} has {text}', data=path)

    def folder(name):
        """Host 1 has something else at the place of the folder."""
        path = world.path('files', next(numbers))
        os.mkdir(path)
        hosts[1].do(f'mount -t tmpfs none {path}')
        place = os.path.join(path, name) if name else path
        try:
            refuse(5, 1, rf'--checkpoint: {place}: host {names[1]} \(ranks 2-3\) does not see what host {names[0]} \(ranks 0-1\) ',
                   f'--checkpoint={place}')
            left = os.listdir(path) + hosts[1].do(f'ls -A {path}').split()
        finally:
            hosts[1].do(f'umount {path}')
        if left:
            raise Failed(f'leaves {left}')

    def read_only():
        path = f'{out}.read-only'
        os.mkdir(path)
        hosts[2].do(f'mount --bind {path} {path} && mount -o remount,ro,bind {path}')
        try:
            refuse(5, 2, rf'--checkpoint: {path}: host {names[2]} \(ranks 4-5\) cannot write: Read-only file system',
                   f'--checkpoint={path}')
        finally:
            hosts[2].do(f'umount {path}')
        if os.listdir(path):
            raise Failed(f'leaves {os.listdir(path)}')

    def full():
        path = world.path('files', next(numbers))
        os.mkdir(path)
        hosts[0].do(f'mount -t tmpfs -o size=4k none {path} && echo > {path}/rest')
        try:
            refuse(5, 0, rf'--checkpoint: {path}: host {names[0]} \(ranks 0-1\) cannot write: No space left', f'--checkpoint={path}')
        finally:
            hosts[0].do(f'umount {path}')

    def checkpoint():
        """A host has an older copy of the checkpoint to go on from."""
        path = f'{OWN}/old-{next(numbers)}'
        command = training(world, 'gpt2', program, f'{out}.old')
        world.runner.tool('dpc-run', *command, '--comm=local')
        for host in hosts:
            host.do(f'mkdir -p {OWN} && cp -r {out}.old.checkpoint {path}')
        hosts[1].do(f'rm -r {path}/step-{STEPS}')
        refuse(5, 1, rf'host {names[1]} \(ranks 2-3\) lacks the file {path}/step-{STEPS}/', f'--resume={path}',
               f'--checkpoint={out}.new')

    for guilty in range(3):
        yield f'files that host {guilty} lacks', lambda guilty=guilty: lacking(guilty)
    yield 'files of another size', lambda: other('echo >> {}', r'\d+ bytes, but \d+ on host')
    yield 'files of other contents', lambda: other('printf x | dd of={} conv=notrunc bs=1 seek=1000', 'as many bytes as on host .*, but')
    yield 'files: checkpoint folder not shared', lambda: folder('')
    yield 'files: checkpoint folder to be made, not shared', lambda: folder('run')
    yield 'files: checkpoint folder that a host may only read', read_only
    yield 'files: checkpoint folder that is full', full
    yield 'files: checkpoint that a host lacks', checkpoint
