"""Part 2: kernels that were recorded on the emulated device, and programs with the interpreter's results, as test-gpu runs them."""
import subprocess

from sitting import Failed, Item

CHUNKS = 40  # each has kernels of all types: every fortieth one


def kernels(pack, tests, chunk):
    def replay(limit):
        file = pack.file('kernels.bin')
        passed, failed, notes = tests.replay([pack.file('replay-kernels')], file, chunk, pack.manifest['kernels'], CHUNKS, limit)
        yield {'passed': passed, 'failed': failed, 'lines': notes}
        if failed:
            raise Failed(f'{failed} kernels: {notes[0]}')
    return replay


def program(tested, tests, entry):
    def train(limit):
        tested.limit = limit / 2
        try:
            passed, failed, notes = tested.train(entry)
        except (tests.Failed, subprocess.TimeoutExpired) as error:
            raise Failed(str(error)) from None
        yield {'passed': passed, 'failed': failed, 'lines': notes}
    return train


def items(pack, tests):
    tested = tests.Pack(pack.source, pack.folder, False)
    chunks = [Item(f'kernels {chunk + 1} of {CHUNKS}', kernels(pack, tests, chunk), 120) for chunk in range(CHUNKS)
              if chunk < pack.manifest['kernels']]
    # bf16 first: its kernels are the newest.
    order = {'bf16': 0, 'f32': 1, 'f64': 2}
    programs = [Item('program ' + entry['name'], program(tested, tests, entry), 90)
                for entry in sorted(pack.manifest['programs'], key=lambda entry: order[entry['precision']])]
    # By turns: a sitting has some of both.
    both = []
    for i in range(max(len(chunks), len(programs))):
        both += chunks[i:i + 1] + programs[i:i + 1]
    return both
