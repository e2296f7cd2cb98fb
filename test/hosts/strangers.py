"""Tests of strangers for test/hosts/run: while launchers or ranks meet, a process of another host connects again and again.

Strangers say nothing, say something random, replay the handshake of an earlier run, or prove another token, as a rank of an earlier start
does. None of them may get more than a challenge, and the run must start and end as if they were not there.

  strangers.py HOST PORT COUNT FILE   connects COUNT times, and prints how often which connections were served; FILE has a handshake
  strangers.py HOST PORT silent       keeps as many connections open as the server accepts, until it is killed
"""
import collections
import hashlib
import hmac
import json
import os
import resource
import secrets
import socket
import struct
import sys
import threading
import time

import runs

MAGIC = 0x3176647263706401
KNOCK, CHALLENGE, HELLO = 40, 72, 96  # bytes of the messages of a handshake
COUNT = 10000 if os.environ.get('DPC_LONG') else 1000
SILENT = 1500
MOST_DESCRIPTORS, MOST_KIB = 400, 256 << 10  # of a launcher or a rank that strangers call at


def receive(connection, count):
    """At most `count` bytes, fewer if the other side hangs up."""
    content = b''
    while len(content) < count:
        try:
            part = connection.recv(count - len(content))
        except ConnectionError:
            break
        if not part:
            break
        content += part
    return content


def prove_another_token(connection):
    """The handshake of a rank that has the token of another start. Returns the bytes that come after the hello."""
    connection.sendall(struct.pack('<Q', MAGIC) + secrets.token_bytes(32))
    challenge = receive(connection, CHALLENGE)
    hello = struct.pack('<QII32s16s', MAGIC, 1, 3, bytes(32), b'dpc-run')
    connection.sendall(hello + hmac.digest(secrets.token_bytes(32), challenge[8:40] + hello, hashlib.sha256))
    return receive(connection, 1)


def replay(connection, handshake):
    connection.sendall(handshake[:KNOCK])
    receive(connection, CHALLENGE)
    connection.sendall(handshake[KNOCK:])
    return receive(connection, 1)


def call(place, count, handshake):
    told = collections.Counter()
    for number in range(count):
        try:
            with socket.create_connection(place, timeout=20) as connection:
                if number % 3 == 0:
                    more = prove_another_token(connection)
                elif number % 3 == 1:
                    more = replay(connection, handshake)
                else:
                    connection.sendall(secrets.token_bytes(secrets.randbelow(300)))
                    connection.shutdown(socket.SHUT_WR)
                    more = receive(connection, CHALLENGE + 1)[CHALLENGE:]
                told['served' if more else 'refused'] += 1
        except TimeoutError:
            told['kept waiting'] += 1
        except OSError:  # the other side has hung up, or nobody listens any more
            told['refused'] += 1
    print(json.dumps(told))


def stay_silent(place):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4 * SILENT), most))
    held = collections.deque()
    while True:
        try:
            held.append(socket.create_connection(place, timeout=1))
        except OSError:
            time.sleep(0.01)
        time.sleep(0.001)
        if len(held) > SILENT:
            held.popleft().close()


class Strangers:
    def __init__(self, world):
        self.world, self.hosts = world, world.hosts
        self.program = world.program('gpt2', ['--mesh=data=6'])
        self.file = world.path('handshake')

    def fail(self, text):
        raise runs.Failed(text)

    def record(self):
        """Writes what the launcher of node 1 says in the handshake of another run with the same token."""
        if os.path.exists(self.file):
            return
        place = self.world.rendezvous()
        address, port = place[len('tcp://'):].rsplit(':', 1)
        heard = []

        def relay(listener):
            client = listener.accept()[0]
            with client, socket.create_connection((address, int(port))) as server:
                heard.append(receive(client, KNOCK))
                server.sendall(heard[0])
                client.sendall(receive(server, CHALLENGE))
                heard.append(receive(client, HELLO))

        with socket.create_server((getattr(self.world.network, 'ADDRESS', '127.0.0.1'), 0)) as listener:
            thread = threading.Thread(target=relay, args=[listener])
            between = 'tcp://{}:{}'.format(*listener.getsockname())
            first = self.world.launch(self.program, hosts=self.hosts[:1], nodes=2, rendezvous=place)
            self.wait_for_listener(first, address, int(port))
            thread.start()
            second = self.world.launch(self.program, hosts=self.hosts[1:2], nodes=2, indices=[1], rendezvous=between)
            thread.join(timeout=20)
            self.stop(first + second)
        if [len(part) for part in heard] != [KNOCK, HELLO]:
            self.fail(f'no handshake is recorded: {heard}')
        with open(self.file, 'wb') as file:
            file.write(b''.join(heard))

    def stop(self, processes):
        for host in self.hosts if self.world.isolated else []:
            while host.kill('KILL', 'dpc-run --nodes'):
                time.sleep(0.01)
        for process in processes:
            process.kill()
            process.communicate()

    def wait_for_listener(self, processes, address, port):
        deadline = time.monotonic() + 20
        while True:
            try:
                return socket.create_connection((address, port), timeout=1).close()
            except OSError:
                if time.monotonic() > deadline or any(process.poll() is not None for process in processes):
                    self.fail(f'nobody listens at {address}:{port}: {runs.ends(processes, 1)}')
                time.sleep(0.02)

    def sizes(self):
        """(descriptors, KiB of memory) of the launchers and ranks of this test."""
        for process in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{process}/cmdline') as words:
                    name = words.read()
                if self.program not in name or 'nsenter' in name:
                    continue
                with open(f'/proc/{process}/status') as status:
                    memory = next((int(line.split()[1]) for line in status if line.startswith('VmRSS:')), 0)
                yield len(os.listdir(f'/proc/{process}/fd')), memory
            except OSError:
                continue  # the process has ended

    def intrude(self, place, start, late):
        """Starts the first processes of a run, lets strangers call, and then starts the late ones, while strangers still call. Returns all
        processes."""
        self.record()
        address, port = place[len('tcp://'):].rsplit(':', 1)
        processes = start()
        self.wait_for_listener(processes, address, int(port))
        stranger = [sys.executable, os.path.abspath(__file__), address, port]
        silent = self.hosts[2].start([*stranger, 'silent'])
        callers = [self.hosts[2].start([*stranger, str(COUNT), self.file])]
        most = (0, 0)
        try:
            deadline = time.monotonic() + 120
            while callers[0].poll() is None and time.monotonic() < deadline:
                for size in self.sizes():
                    most = tuple(map(max, most, size))
                time.sleep(0.05)
            callers.append(self.hosts[2].start([*stranger, str(COUNT), self.file]))
            processes += late()
            results = runs.succeed(processes)
            told = [json.loads(out) for _, out, _ in runs.succeed(callers)]
        finally:
            silent.kill()
            while self.world.isolated and self.hosts[2].kill('KILL', 'strangers.py'):
                time.sleep(0.01)
            silent.communicate()
        if any(list(each) != ['refused'] for each in told) or sum(each['refused'] for each in told) != 2 * COUNT:
            self.fail(f'strangers: {told}')
        if not 0 < most[0] <= MOST_DESCRIPTORS or most[1] > MOST_KIB:
            self.fail(f'a process has {most[0]} descriptors and {most[1]} KiB of memory')
        return results

    def at_launchers(self):
        place, out = self.world.rendezvous(), self.program + '.strangers'
        command = runs.training(self.world, 'gpt2', self.program, out)

        def launch(first, last):
            return self.world.launch(*command, hosts=self.hosts[first:last], indices=range(first, last), nodes=3, rendezvous=place)

        self.intrude(place, lambda: launch(0, 2), lambda: launch(2, 3))
        runs.compare(runs.left(out), runs.one_host(self.world, 'gpt2', self.program))

    def at_ranks(self):
        place, out = self.world.rendezvous(), self.program + '.strangers-ranks'
        command = runs.training(self.world, 'gpt2', self.program, out) + ([] if self.world.isolated else ['--comm=sockets'])

        def start(first, last):
            return [self.hosts[rank // 2].start(command, RANK=str(rank), WORLD_SIZE='6', LOCAL_WORLD_SIZE='2', DPC_RENDEZVOUS=place,
                                                DPC_TOKEN_FILE=self.world.token) for rank in range(first, last)]

        self.intrude(place, lambda: start(0, 4), lambda: start(4, 6))
        runs.compare(runs.left(out), runs.one_host(self.world, 'gpt2', self.program))


def tests(world):
    strangers = Strangers(world)
    yield 'strangers where launchers meet', strangers.at_launchers
    yield 'strangers where ranks meet', strangers.at_ranks


if __name__ == '__main__':
    where = sys.argv[1], int(sys.argv[2])
    if sys.argv[3] == 'silent':
        stay_silent(where)
    with open(sys.argv[4], 'rb') as recorded:
        call(where, int(sys.argv[3]), recorded.read())
