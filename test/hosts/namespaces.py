"""Hosts for tests: each is a set of namespaces of Linux (network, processes, mounts, IPC, host name) with its own /tmp and /dev/shm,
on a bridge. Processes of two hosts share no memory, see no processes of each other, and reach each other over the network only.

The caller must run in namespaces of its own, too, so that no bridge is left on the machine: see `enter`.
"""
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

MARK = 'DPC_TEST_IN_NAMESPACES'
TOOLS = ('unshare', 'nsenter', 'ip', 'mount', 'hostname')


def outer_command():
    command = ['unshare', '--net', '--mount']
    return command if os.geteuid() == 0 else command + ['--user', '--map-root-user']


def why_not():
    """Why this machine can make no hosts; '' if it can."""
    missing = [tool for tool in TOOLS if not shutil.which(tool, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')]
    if missing:
        return f'no {missing[0]} (Debian packages util-linux, iproute2, mount, hostname)'
    trial = subprocess.run([*outer_command(), 'sh', '-c', 'ip link add br0 type bridge && unshare --pid --ipc --uts --fork true'],
                           capture_output=True, text=True, env=environment())
    return '' if trial.returncode == 0 else f'this machine makes no namespaces: {trial.stderr.strip()}'


def environment(**more):
    return {**os.environ, 'PATH': os.environ.get('PATH', '') + ':/usr/sbin:/sbin', **more}


def enter():
    """Starts this program again in namespaces of its own. Returns in that program, and if hosts cannot be made, why."""
    if os.environ.get(MARK):
        return ''
    reason = why_not()
    if reason:
        return reason
    command = outer_command()
    os.execvpe(command[0], [*command, sys.executable, *sys.argv], environment(**{MARK: '1'}))


def quietly(*command):
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    if done.returncode:
        raise RuntimeError(f'{" ".join(command)}: {done.stderr.strip()}')


class Host:
    """Host `index` of a network: its name is host-A, host-B, .., its address 10.77.0.1, 10.77.0.2, .., and at times a second
    address 10.78.0.1, 10.78.0.2, .."""

    def __init__(self, index, names):
        self.index, self.name, self.address = index, f'host-{chr(ord("A") + index)}', f'10.77.0.{index + 1}'
        self.second = f'10.78.0.{index + 1}'
        # What the hosts share may lie in /tmp, e.g. a checkout there; then /tmp is not hidden.
        hide = '' if names.startswith('/tmp/') else 'mount -t tmpfs none /tmp && '
        self.own_folders = ['/dev/shm'] + ['/tmp'] * bool(hide)
        setup = (f'hostname {self.name} && mount --bind {names} /etc/hosts && {hide}mount -t tmpfs none /dev/shm && '
                 'ip link set lo up && echo ready && exec cat >/dev/null')
        self.keeper = subprocess.Popen(['unshare', '--net', '--pid', '--mount', '--ipc', '--uts', '--fork', '--kill-child',
                                        '--mount-proc', 'sh', '-c', setup], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=environment())
        if self.keeper.stdout.readline() != 'ready\n':
            raise RuntimeError(f'{self.name}: {self.keeper.stderr.read().strip()}')
        with open(f'/proc/{self.keeper.pid}/task/{self.keeper.pid}/children') as file:
            self.process = file.read().split()[0]
        self.link = f'veth{index}'
        quietly('ip', 'link', 'add', self.link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', self.process)
        quietly('ip', 'link', 'set', self.link, 'master', 'br0', 'up')
        quietly(*self.command('ip', 'address', 'add', f'{self.address}/24', 'dev', 'eth0'))
        quietly(*self.command('ip', 'link', 'set', 'eth0', 'up'))

    def command(self, *command):
        return ['nsenter', '--target', self.process, '--net', '--pid', '--mount', '--ipc', '--uts', '--', *command]

    def start(self, command, **variables):
        return subprocess.Popen(self.command(*command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=environment(**variables))

    def do(self, script):
        """Runs a script of the shell to its end, and returns its output."""
        done = subprocess.run(self.command('sh', '-c', script), capture_output=True, text=True, env=environment())
        if done.returncode:
            raise RuntimeError(f'{self.name}: {script}: {done.stderr.strip()}')
        return done.stdout

    def kill(self, signal, pattern):
        """Sends a signal to the oldest process of this host whose command line has the pattern. False if there is none."""
        return subprocess.run(self.command('pkill', '--oldest', f'-{signal}', '-f', pattern)).returncode == 0

    def live(self):
        """The processes of this host, without those that keep it: the words of their commands by the numbers that this process sees."""
        found, own = {}, os.readlink(f'/proc/{self.process}/ns/pid')
        for number in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{number}/cmdline') as words:
                    command = words.read().split('\0')[:-1]
                # A process that has ended has no command. The first process of a host does not collect the ends of the others.
                if command and number != self.process and os.readlink(f'/proc/{number}/ns/pid') == own:
                    found[int(number)] = command
            except OSError:
                continue  # the process has ended
        return found

    def processes(self):
        """The command lines of the processes of this host, without those that keep it."""
        return [' '.join(words) for words in self.live().values()]

    @staticmethod
    def send(process, which):
        """Sends a signal to a process of `live`. False if the process has ended."""
        try:
            os.kill(process, which)
            return True
        except OSError:
            return False

    def clear(self):
        """Kills all processes of this host."""
        while rest := self.live():
            for process in rest:
                self.send(process, signal.SIGKILL)

    def files(self):
        """The files and folders in /dev/shm, and in /tmp if this host has one of its own."""
        return [os.path.join(folder, name) for folder in self.own_folders for name in os.listdir(f'/proc/{self.process}/root{folder}')]

    def add_second(self):
        quietly(*self.command('ip', 'address', 'add', f'{self.second}/24', 'dev', 'eth0'))

    def remove_second(self):
        quietly(*self.command('ip', 'address', 'delete', f'{self.second}/24', 'dev', 'eth0'))

    def listeners(self):
        """The addresses and ports at which processes of this host listen for TCP. Starts no process on the host."""
        listed = subprocess.run(['nsenter', '--target', self.process, '--net', '--', 'ss', '-Htln'], capture_output=True, text=True,
                                env=environment())
        return [line.split()[3] for line in listed.stdout.splitlines()]

    def unplug(self):
        quietly('ip', 'link', 'set', self.link, 'down')

    def plug(self):
        """Returns when this host reaches the bridge, where nothing listens at port 9."""
        quietly('ip', 'link', 'set', self.link, 'up')
        quietly(*self.command('ip', 'neighbour', 'flush', 'dev', 'eth0'))  # of hosts that were out of reach
        call = f'import socket\nprint(socket.socket().connect_ex(("{Network.ADDRESS}", 9)))'
        for _ in range(50):
            done = subprocess.run(self.command(sys.executable, '-c', call), capture_output=True, text=True)
            if done.stdout.strip() == str(errno.ECONNREFUSED):
                return
            time.sleep(0.1)
        raise RuntimeError(f'{self.name}: the network does not come back: {done.stdout}{done.stderr}')

    def close(self):
        self.keeper.stdin.close()
        self.keeper.wait(timeout=20)


class Network:
    """Some hosts on a bridge. Leaving it ends all their processes. ADDRESS is that of this process."""

    ADDRESS = '10.77.0.254'

    def __init__(self, count, folder):
        self.hosts = []
        names = os.path.join(folder, 'hosts')
        with open(names, 'w') as file:
            file.write('127.0.0.1 localhost\n')
            file.writelines(f'10.77.0.{index + 1} host-{chr(ord("A") + index)}\n' for index in range(count))
        try:
            quietly('ip', 'link', 'set', 'lo', 'up')
            quietly('ip', 'link', 'add', 'br0', 'type', 'bridge')
            quietly('ip', 'address', 'add', f'{self.ADDRESS}/24', 'dev', 'br0')
            quietly('ip', 'link', 'set', 'br0', 'up')
            for index in range(count):
                self.hosts.append(Host(index, names))
        except BaseException:
            self.close()
            raise

    def agent(self, folder):
        """A program that runs a command on a host, as ssh does: its arguments are options, the host, and the words of the command."""
        path = os.path.join(folder, 'agent')
        if os.path.exists(path):
            return path  # another test may be running it
        new = f'{path}.{threading.get_ident()}'
        with open(new, 'w') as file:
            file.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=$1\nshift\ncase $host in\n')
            for host in self.hosts:
                words = ' '.join(host.command('sh', '-c'))
                file.write(f'{host.name}) exec {words} "$*" ;;\n')
            file.write('esac\necho "no host $host" >&2\nexit 1\n')
        os.chmod(new, 0o755)
        os.rename(new, path)
        return path

    def close(self):
        for host in self.hosts:
            host.close()
        subprocess.run(['ip', 'link', 'delete', 'br0'], capture_output=True, env=environment())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Loopback:
    """Hosts of a machine that makes no namespaces: processes of one machine with other addresses."""

    class Host:
        def __init__(self, index):
            self.index, self.address, self.second = index, f'127.0.0.{index + 2}', f'127.0.1.{index + 2}'
            self.name = os.uname().nodename  # of all of them

        def add_second(self):
            pass  # each address of 127.0.0.0/8 is one of this machine

        remove_second = add_second

        def start(self, command, **variables):
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env=environment(**variables))

    def __init__(self, count):
        self.hosts = [self.Host(index) for index in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
