"""Tests of --check for test/hosts/run: a check of hosts that fit, and checks that must name a cause.

Each cause makes one of the hosts unfit for a run. Every host must end with exit code 1 and one line that names the cause, and host 0
must show the cause in its table, if the ranks have met.
"""
import os
import re
import subprocess
import sys
import time

import mpiruns
import runs

MESH = ['--mesh=data=6']
SECONDS = 20  # of a check, on a busy machine
COUNT_ROW = r'^ *{} +\S+ .* {}$'


class Checks:
    def __init__(self, world):
        self.world, self.hosts = world, world.hosts
        self.data = os.path.join(runs.interp.MODELS, 'gpt2', 'data.npz')

    def program(self, *options):
        return self.world.program('gpt2', [*MESH, *options])

    def fail(self, text):
        raise runs.Failed(text)

    def wrapper(self, program, script):
        """A file that runs a script and then becomes the program."""
        path = self.world.path('check', 'wrapper')
        with open(path, 'w') as file:
            file.write(f'#!/bin/sh\n{script}\nexec {program} "$@"\n')
        os.chmod(path, 0o755)
        return path

    def launch(self, *options, commands=None, flags=None, **how):
        """Starts dpc-run --check on each host. `commands` has the program and options of hosts that differ, and `flags` the options
        of dpc-run, both by index."""
        usual = [self.program(), f'--data={self.data}', *options]
        return self.world.launch(each=lambda index: ['--check', *(flags or {}).get(index, []), *(commands or {}).get(index, usual)], **how)

    def finish(self, processes, code=1):
        begin = time.monotonic()
        results = runs.ends(processes)
        if time.monotonic() - begin > SECONDS:
            self.fail(f'takes {time.monotonic() - begin:.1f} s')
        for index, (got, out, error) in enumerate(results):
            if got != code:
                self.fail(f'process {index}: exit code {got}, not {code}: {error}{out}')
        return results

    def table(self, text, *wanted):
        """Host 0's output has a line for each pattern."""
        for pattern in wanted:
            if not re.search(pattern, text, re.M):
                self.fail(f'no line "{pattern}" in:\n{text}')

    def passes(self):
        folder = self.world.path('check', 'run')
        before = sorted(os.listdir(self.world.folder))
        results = self.finish(self.launch(f'--checkpoint={folder}'), 0)
        self.table(results[0][1], *(COUNT_ROW.format(rank, 'ok') for rank in range(6)), '^a run can start: 6 ranks on ',
                   r'^over sockets, upper right: us until .*\n.*\n   0  +- +\d', r'^   5 +\d+ +\d+ +\d+ +\d+ +\d+ +-$')
        if any(error for _, _, error in results) or any(out for _, out, _ in results[1:]):
            self.fail(f'more is printed: {results}')
        left = set(os.listdir(self.world.folder)) - set(before)
        if left - {os.path.basename(self.program())}:
            self.fail(f'leaves {left}')

    def named(self, processes, host, cause, ranks=()):
        """The cause is on one line of every host. The ranks are in host 0's table."""
        name = re.escape(getattr(self.hosts[host], 'name', '')) or '.*'
        results = self.finish(processes)
        for index, (_, _, error) in enumerate(results):
            lines = error.strip().splitlines()
            wanted = cause if index == host else rf'node {host} \({name}\): .*{cause}'
            if len(lines) != 1 or not re.search(wanted, lines[0]):
                self.fail(f'host {index}: says {lines}, not one line with "{wanted}"')
        if ranks:
            self.table(results[0][1], rf'^ranks? {", ".join(map(str, ranks))} \({name}\): {cause}',
                       *(COUNT_ROW.format(rank, 'FAILS' if rank in ranks else 'ok') for rank in range(6)))

    def absent(self, processes, texts):
        """The launchers do not meet, or cannot start ranks. Each host says one line."""
        runs.expect(self.finish(processes), 1, texts)

    def token(self, mode, text, note):
        path = self.world.path('token', 'check', oct(mode))
        self.world.write_token(path, mode)
        place = self.world.rendezvous()
        processes = [self.world.launch(rendezvous=place, hosts=[host], nodes=3, indices=[index], token=path if index == 1 else None,
                                       each=lambda _: ['--check', self.program(), f'--data={self.data}'])[0]
                     for index, host in enumerate(self.hosts)]
        others = r'node 1 did not join within 3 s \(2 of 3 nodes did\)' + note
        self.absent(processes, [others, text, others])

    def unknown_name(self):
        place, unknown = self.world.rendezvous(), f'tcp://no-host.invalid:{runs.PORT}'
        processes = [self.world.launch(rendezvous=unknown if index == 1 else place, hosts=[host], nodes=3, indices=[index],
                                       each=lambda _: ['--check', self.program(), f'--data={self.data}'])[0]
                     for index, host in enumerate(self.hosts)]
        others = 'node 1 did not join within 3 s'
        self.absent(processes, [others, '"no-host.invalid"', others])

    def taken_port(self):
        place = self.world.rendezvous()
        port = place.rsplit(':', 1)[1]
        first = self.hosts[0]
        stranger = first.start([sys.executable, '-c', f'import socket, time\nwith socket.create_server(("{first.address}", {port})):\n'
                                f' print(flush=True)\n time.sleep({SECONDS})'])
        try:
            stranger.stdout.readline()
            self.absent(self.launch(rendezvous=place), ['cannot listen: Address already in use'] + ['no answer from node 0'] * 2)
        finally:
            stranger.kill()
            while self.world.isolated and first.kill('KILL', 'create_server'):
                time.sleep(0.01)
            stranger.communicate()

    def absent_node(self):
        self.absent(self.launch(hosts=self.hosts[:2], nodes=3), r'node 2 did not join within 3 s \(2 of 3 nodes did\)')

    def cut_link(self):
        self.hosts[2].unplug()
        try:
            others = r'node 2 did not join within 3 s \(2 of 3 nodes did\)'
            self.absent(self.launch(), [others, others, 'nobody listens there: '])
        finally:
            self.hosts[2].plug()

    def other_program(self):
        other = self.program('--precision=bf16')
        self.named(self.launch(commands={1: [other, f'--data={self.data}']}), 1,
                   r'has the program [0-9a-f]{12}, rank 0 \(.*\) has [0-9a-f]{12}', (2, 3))

    def other_runtime(self):
        version = re.search(rb'a program of (dpc [0-9.]+)', subprocess.run([self.program(), '--version'], capture_output=True).stdout)[1]
        other = self.world.path('check', 'runtime')
        with open(other, 'wb') as file:
            file.write(runs.read(self.program()).replace(version + b'\0', version[:-1] + b'9\0'))
        os.chmod(other, 0o755)
        self.named(self.launch(commands={1: [other, f'--data={self.data}']}), 1, r'has dpc [0-9.]+9, rank 0 \(.*\) has dpc [0-9.]+', (2, 3))

    def missing_program(self):
        self.named(self.launch(commands={1: [self.world.path('check', 'missing')]}), 1, 'check.missing: no such file')

    def missing_programs(self):
        """Two hosts lack the program. Every host names both."""
        missing = [self.world.path('check', 'missing')]
        first, second = (rf'node {index} \(.*\): .*check.missing: no such file' for index in (1, 2))
        own = 'error: .*check.missing: no such file; '
        self.absent(self.launch(commands={1: missing, 2: missing}), [f'error: {first}; {second}', own + second, own + first])

    def missing_data(self):
        missing = self.world.path('check', 'missing.npz')
        self.named(self.launch(commands={1: [self.program(), f'--data={missing}']}), 1,
                   r'--data: .*missing.npz: No such file or directory; rank 0 \(.*\) has it', (2, 3))

    def unshared_folder(self, exists):
        folder = '/dev/shm/check'  # each host has a /dev/shm of its own
        if exists:
            for host in self.hosts:
                subprocess.run(host.command('mkdir', folder), check=True)
        cause = ('is another folder on this host than on that of rank 0' if exists
                 else 'No such file or directory, but rank 0 has this folder')
        try:
            results = self.finish(self.launch(f'--checkpoint={folder}'))
            self.table(results[0][1], rf'^ranks 2, 3 \(host-B\): --checkpoint: {folder}.* {cause}',
                       rf'^ranks 4, 5 \(host-C\): --checkpoint: {folder}.* {cause}', COUNT_ROW.format(1, 'ok'))
            left = subprocess.run(self.hosts[0].command('ls', '-A', '/dev/shm'), capture_output=True, text=True).stdout.split()
            if left != (['check'] if exists else []):
                self.fail(f'leaves {left}')
        finally:
            for host in self.hosts if exists else []:
                subprocess.run(host.command('rmdir', folder), check=True)

    def unreached_address(self):
        host = self.hosts[1]
        host.add_second()
        try:
            self.named(self.launch(flags={1: [f'--listen={host.second}']}), 1,
                       r'rank 4 \(host-C\) cannot reach its address 10.78.0.2: ', (2, 3))
        finally:
            host.remove_second()

    def little_memory(self):
        told = self.world.path('meminfo')
        with open(told, 'w') as file:
            file.write('MemTotal: 2000 kB\nMemFree: 1000 kB\nMemAvailable: 1000 kB\n')
        subprocess.run(self.hosts[1].command('mount', '--bind', told, '/proc/meminfo'), check=True)
        try:
            self.named(self.launch(), 1, r'its host has 1000\.0 KiB of free memory, and the 2 ranks there need \d', (2, 3))
        finally:
            subprocess.run(self.hosts[1].command('umount', '/proc/meminfo'), check=True)

    def missing_driver(self):
        """The second of two ranks has no CUDA driver."""
        program = self.world.program('mlp', ['--mesh=data=2', '--target=cuda'])
        emulator = os.environ.get('DPC_CUDA_LIBRARIES', os.path.join(self.world.tools, '..', 'cuda-emulator'))
        wrapper = self.wrapper(program, f'export DPC_CUDA_LIBRARIES={emulator}\n[ "$RANK" != 1 ] || DPC_CUDA_LIBRARIES={self.world.folder}')
        results = self.finish(self.launch(commands={0: [wrapper], 1: [wrapper]}, hosts=self.hosts[:2]))
        self.table(results[0][1], '^rank 1 .*: (NCCL|the CUDA driver) is not there: ', '^   0 .* emulated .* ok$', '^   1 .*FAILS$')

    def dead_rank(self):
        """A rank dies before it meets the others. The launcher of its host says so."""
        wrapper = self.wrapper(self.program(), '[ "$RANK" != 3 ] || kill -KILL $$')
        self.named(self.launch(commands={1: [wrapper, f'--data={self.data}']}), 1, r'rank 3 died: its process \d+ was killed by signal 9')

    def silent_rank(self):
        """A rank starts but never meets the others."""
        wrapper = self.wrapper(self.program(), '[ "$RANK" != 3 ] || exec sleep 100')
        results = self.finish(self.launch(commands={1: [wrapper, f'--data={self.data}']}))
        self.table(results[0][1], '^rank 3: did not join within 3 s$', COUNT_ROW.format(2, 'ok'), '^ *3 .*absent$')
        for _, _, error in results:
            self.table(error, '^error: (node 0 .*: )?rank 3: did not join within 3 s$')

    def by_hand(self, absent):
        """Ranks without a launcher: rank 5 does not come, or it has another token."""
        other = self.world.path('token', 'other')
        self.world.write_token(other, 0o600)
        place = self.world.rendezvous()
        command = [self.program(), '--check', f'--data={self.data}', *([] if self.world.isolated else ['--comm=sockets'])]
        results = self.finish([
            self.hosts[rank // 2].start(command, RANK=str(rank), WORLD_SIZE='6', LOCAL_WORLD_SIZE='2', DPC_RENDEZVOUS=place,
                                        DPC_TOKEN_FILE=other if rank == 5 else self.world.token)
            for rank in range(5 if absent else 6)])
        self.table(results[0][1], '^rank 5: did not join within 3 s$', COUNT_ROW.format(4, 'ok'), '^ *5 .*absent$')
        self.table(results[0][2], '^error: rank 5: did not join within 3 s$')
        if any(error for _, _, error in results[1:5]):
            self.fail(f'ranks that have nothing to tell say {results[1:5]}')
        if not absent:
            self.table(results[0][1], '^note: a process at .* came and left: its token may be another one')
            self.table(results[5][2], r'^error: rank 5 \(.*\): rendezvous .* does not know this run\'s token')

    def mpirun(self, name, code, script, *wanted, **variables):
        """Ranks under an mpirun over MPI. `script` runs on each host before the program begins."""
        world = self.world
        command = ['sh', '-c', f'{script}; exec "$0" "$@"', self.program(), '--check', f'--data={self.data}', '--comm=mpi']
        process = mpiruns.start(name, world.network, world.folder, command, **variables)
        results = self.finish([process], code)
        self.table(results[0][1], *wanted)

    def meeting(self):
        return dict(DPC_RENDEZVOUS=self.world.rendezvous(), DPC_TOKEN_FILE=self.world.token)

    def cases(self):
        yield 'passes', self.passes
        yield 'another token', lambda: self.token(
            0o600, 'the listener there does not know this run\'s token', '; a process at .* came and left: its token may be another one')
        yield 'readable token', lambda: self.token(0o644, 'must be this user\'s with mode 0600', '')
        yield 'unknown name', self.unknown_name
        yield 'taken port', self.taken_port
        yield 'absent node', self.absent_node
        yield 'another program', self.other_program
        yield 'another runtime', self.other_runtime
        yield 'missing program', self.missing_program
        yield 'missing programs', self.missing_programs
        yield 'missing data', self.missing_data
        yield 'missing driver', self.missing_driver
        yield 'dead rank', self.dead_rank
        yield 'silent rank', self.silent_rank
        yield 'absent rank by hand', lambda: self.by_hand(True)
        yield 'another token by hand', lambda: self.by_hand(False)
        for name, check in (('cut link', self.cut_link), ('unreached address', self.unreached_address), ('little memory', self.little_memory),
                            ('no folder in common', lambda: self.unshared_folder(False)),
                            ('other folders of one name', lambda: self.unshared_folder(True))):
            yield name, check if self.world.isolated else None
        for name in runs.mpiruns(self.world):
            yield f'passes under {name}', lambda name=name: self.mpirun(
                name, 0, ':', '^a run can start: 6 ranks on 3 hosts', '^over mpi, ')
            yield f'no MPI under {name}', lambda name=name: self.mpirun(
                name, 1, '[ $(hostname) != host-B ] || export DPC_MPI_LIBRARY=libmissing.so',
                r'^ranks 2, 3 \(host-B\): --comm=mpi: DPC_MPI_LIBRARY: libmissing.so', **self.meeting())
        if len(runs.mpiruns(self.world)) == 2:
            yield 'another MPI', lambda: self.mpirun(
                'mpirun.openmpi', 1, '[ $(hostname) != host-B ] || export DPC_MPI_LIBRARY=libmpich.so.12',
                r'^ranks 2, 3 \(host-B\): has MPICH .*, rank 0 \(host-A\) has Open MPI', **self.meeting())


def tests(world):
    """Names and functions. A check that needs hosts of its own, which this machine does not make, has no function."""
    for name, check in Checks(world).cases():
        yield f'check {name}', check
