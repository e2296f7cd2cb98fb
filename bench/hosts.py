#!/usr/bin/env python3
"""All-reduces of f32 between two hosts made of namespaces, dpc's beside those of others.

  bench/hosts.py [network] [groups] [mpi] [--rounds=N] [--least=KiB] [--most=KiB]

`network`: one rank on each host. dpc over TCP (sockets) and over Gloo, Gloo's own algorithms, and a socket through which each rank sends and
receives the bytes of the buffer once, as an all-reduce of two ranks must at least. `groups`: there are two ranks on each host, and
those of one host sum (auto/2), beside the same two ranks alone (local). `mpi`: one rank on each host under each mpirun, dpc over MPI beside
MPI_Allreduce. Without words, all.

The contenders take turns, in N rounds after one that is not counted. Prints medians in us, and ratios. Needs root or user namespaces.
"""
import argparse
import json
import os
import secrets
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'test/hosts'))
import mpiruns  # noqa: E402
import namespaces  # noqa: E402

DRIVER = os.path.join(os.environ.get('DPC_BIN', os.path.join(ROOT, 'build/release/bin')), 'dpc-bench-hosts')
GLOO = 'gloo-ring', 'gloo-bcube', 'gloo-ring-chunked', 'gloo-halving'
GLOO_LIBRARY = os.path.join(os.path.dirname(DRIVER), '../lib/libdpc_gloo.so')
PORT = 29600
BLOCK, MOST_TIMES = 64 << 20, 200  # a block of runs moves about so many bytes, in at most so many runs


class Contender:
    """The ranks of a contender, a process each, that wait for their turns."""
    ports = iter(range(PORT, PORT + 1000))

    def __init__(self, way, folder, ranks, start, working=None):
        """`start` starts the processes, of which the first one prints what rank 0 says. The first `working` ranks run, and the others sleep."""
        self.way, self.pipes, self.working = way, [], working
        for rank in range(ranks):
            path = os.path.join(folder, f'{way.replace("/", "-")}.{rank}')
            os.mkfifo(path)
            self.pipes.append(os.open(path, os.O_RDWR))  # for reading, too, so that this does not wait for the rank
        self.processes = start()

    def run(self, size):
        """Microseconds of one all-reduce of `size` bytes."""
        times = max(2, min(BLOCK // size, MOST_TIMES))
        for pipe in self.pipes[:self.working]:
            os.write(pipe, f'RUN {size} {times}\n'.encode())
        reply = self.processes[0].stdout.readline()
        if not reply.startswith('DONE'):
            errors = []
            for process in self.processes:
                process.kill()
                errors.append(process.communicate()[1].strip())
            raise RuntimeError(f'{self.way}: no times of {size} bytes: {"; ".join(filter(None, errors))}')
        return json.loads(reply.removeprefix('DONE'))['s'] / times * 1e6

    def stop(self):
        for pipe in self.pipes:
            os.write(pipe, b'QUIT\n')
        for process in self.processes:
            process.communicate()
        for pipe in self.pipes:
            os.close(pipe)


def on_hosts(way, folder, hosts, working=None):
    """A contender with a rank for each entry of `hosts`."""
    place, token = f'{hosts[0].address}:{next(Contender.ports)}', secrets.token_hex(32)
    return Contender(way, folder, len(hosts), lambda: [
        host.start([DRIVER, way, folder, str(rank), str(len(hosts)), host.address, place], DPC_TOKEN=token)
        for rank, host in enumerate(hosts)], working)


def under_mpirun(way, folder, name, world):
    """A contender with a rank on each host, started by an mpirun."""
    return Contender(way, folder, len(world.hosts), lambda: [mpiruns.start(name, world, folder, [DRIVER, way, folder], each=1)])


def medians(contenders, sizes, rounds):
    """Yields each size with the median of each contender, by its name."""
    for size in sizes:
        times = {contender.way: [] for contender in contenders}
        for turn in range(rounds + 1):
            for contender in contenders:
                time = contender.run(size)
                if turn:
                    times[contender.way].append(time)
        yield size, {way: statistics.median(of_way) for way, of_way in times.items()}
    for contender in contenders:
        contender.stop()


def table(title, contenders, sizes, rounds, ratios):
    """Prints a line for each size. `ratios` has names, each with a contender and those to the best of which it is compared."""
    ways = [contender.way for contender in contenders]
    print(f'{title}: medians of {rounds} rounds in us\n{"KiB":>8}', *(f'{word:>{max(10, len(word))}}' for word in [*ways, *ratios]))
    for size, found in medians(contenders, sizes, rounds):
        words = [f'{found[way]:{max(10, len(way))}.1f}' for way in ways]
        words += [f'{found[one] / min(found[other] for other in others):{max(10, len(name))}.2f}' for name, (one, others) in ratios.items()]
        print(f'{size >> 10:8}', *words, flush=True)


def network(world, folder, sizes, rounds):
    ways, ratios = ['sockets', 'socket'], {'sockets/socket': ('sockets', ['socket'])}
    if os.path.exists(GLOO_LIBRARY):  # else Gloo was not there when dpc was built
        ways += ['gloo', *GLOO]
        ratios.update({'sockets/best': ('sockets', GLOO), 'gloo/best': ('gloo', GLOO)})
    table('2 hosts x 1 rank', [on_hosts(way, folder, world.hosts) for way in ways], sizes, rounds, ratios)


def groups(world, folder, sizes, rounds):
    # The hosts share the cores of this machine, and a host does not know of the ranks of the other. So the group of one host works.
    spans = on_hosts('auto/2', folder, [host for host in world.hosts for _ in range(2)], working=2)
    table('2 x 2 ranks, in a group of one host', [spans, on_hosts('local', folder, world.hosts[:1] * 2)], sizes, rounds, {
        'auto/local': ('auto/2', ['local'])})


def mpi(world, folder, sizes, rounds):
    for name in mpiruns.found():
        own = os.path.join(folder, name)
        os.mkdir(own)
        table(f'2 hosts x 1 rank, {name}', [under_mpirun(way, own, name, world) for way in ('mpi', 'MPI_Allreduce')], sizes, rounds, {
            'mpi/MPI_Allreduce': ('mpi', ['MPI_Allreduce'])})


PARTS = {'network': network, 'groups': groups, 'mpi': mpi}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('parts', nargs='*', metavar='|'.join(PARTS))
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--least', type=int, default=4, metavar='KiB')
    parser.add_argument('--most', type=int, default=256 << 10, metavar='KiB')
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f'{unknown[0]} is none of {", ".join(PARTS)}')
    reason = namespaces.enter()
    if reason:
        sys.exit(reason)
    sizes = [4096 << 2 * power for power in range(9) if options.least <= 4 << 2 * power <= options.most]
    # The hosts have their own /tmp, but all of them see the folder of the programs.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(DRIVER), prefix='hosts-') as folder, namespaces.Network(2, folder) as world:
        for part in options.parts or PARTS:
            PARTS[part](world, folder, sizes, options.rounds)


main()
