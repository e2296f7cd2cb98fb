"""Looks for processes that listen at an address that stands for all addresses of a host."""
import threading

import runs

WILDCARDS = '0.0.0.0', '*', '[::]'
SECONDS = 0.3  # between two looks


def open_to_all(hosts):
    return {f'{host.name} listens at {place}' for host in hosts for place in host.listeners() if place.rsplit(':', 1)[0] in WILDCARDS}


class Watch:
    """Looks again and again while a test runs. Leaving it fails if any look found such a process. Processes of an MPI that an earlier
    test has left do not count."""

    def __init__(self, hosts):
        self.hosts, self.looks, self.found, self.ends = hosts, 0, set(), threading.Event()
        self.known = open_to_all(hosts)
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.ends.wait(SECONDS):
            self.found |= open_to_all(self.hosts) - self.known
            self.looks += 1

    def __enter__(self):
        self.thread.start()

    def __exit__(self, kind, *_):
        self.ends.set()
        self.thread.join()
        if self.found and not kind:
            raise runs.Failed('; '.join(sorted(self.found)))
