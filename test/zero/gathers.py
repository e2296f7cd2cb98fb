"""What of a program is gathered, when, and who reads it, by its text at level `exec`."""
import collections
import re

# Buckets that nobody has read yet and that may be there: kGathersAhead of passes/Overlap.
AHEAD = 2

Gather = collections.namedtuple('Gather', 'start bytes first last reader')
"""Places among the actions of the step: where it starts, and is first and last read; by which function first."""


class Buffers:
    """The numbers of the buffers that the names of a region stand for."""

    def __init__(self):
        self.number, self.bytes = {}, {}

    def read(self, line):
        made = re.match(r' *(%\d+) = exec\.buffer .*number (\d+).*: memref<((?:\d+x)*)f64>', line)
        if made:
            self.number[made.group(1)] = int(made.group(2))
            size = 8
            for extent in made.group(3).split('x')[:-1]:
                size *= int(extent)
            self.bytes[int(made.group(2))] = size
        view = re.match(r' *(%\d+) = exec\.view (%\d+) ', line)
        if view and view.group(2) in self.number:
            self.number[view.group(1)] = self.number[view.group(2)]


def find(text):
    """([(gather of parameters, its number among the collectives) in the order in which they are first read], the kinds
    of all collectives)."""
    readers = collections.defaultdict(set)  # by function: numbers
    function, names = None, Buffers()
    actions, gathers, kinds = [], [], []
    for line in text.split('\n'):
        head = re.match(r' *exec\.(?:function|entry) @([\w.]+)', line)
        if head:
            function, names = head.group(1), Buffers()
        names.read(line)
        launch = re.match(r' *exec\.launch @[\w.]+\(([^)]*)\)', line)
        if launch:
            readers[function] |= {names.number[name] for name in re.findall(r'%\d+', launch.group(1)) if name in names.number}
        if function == 'step' and re.search(r'exec\.(compute|start|wait) ', line):
            actions.append(line)
            start = re.search(r'exec\.start (\w+) .* to (%\d+) id', line)
            if start:
                kinds.append(start.group(1))
                if 'gathered' in line:
                    number = names.number[start.group(2)]
                    gathers.append((len(actions) - 1, number, names.bytes[number]))
    computed = [re.search(r'exec\.compute @([\w.]+)', line) for line in actions]
    found = []
    for start, number, size in gathers:
        reads = [place for place, name in enumerate(computed)
                 if place > start and name and number in readers[name.group(1)]]
        found.append(Gather(start, size, reads[0], reads[-1], computed[reads[0]].group(1)))
    order = sorted(range(len(found)), key=lambda index: found[index].first)
    starts = [index for index, line in enumerate(actions) if 'exec.start' in line]
    collective = {place: index for index, place in enumerate(starts)}
    return [(found[index], collective[found[index].start]) for index in order], kinds


def alive(gathers, place):
    """Those that are there at a place: (unread, in use)."""
    unread = [gather for gather in gathers if gather.start <= place < gather.first]
    return unread, [gather for gather in gathers if gather.first <= place <= gather.last]
