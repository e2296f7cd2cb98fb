"""Part 8, its begin: some recorded kernels under compute-sanitizer."""
import shutil

from sitting import Failed, Item, Skipped

CHUNKS = 60  # each sixtieth kernel


def check(pack, tests, tool):
    def measure(limit):
        if not shutil.which('compute-sanitizer'):
            raise Skipped('compute-sanitizer is not in PATH')
        command = ['compute-sanitizer', '--tool', tool, '--error-exitcode', '1', pack.file('replay-kernels')]
        count = pack.manifest['kernels']
        passed, failed, notes = tests.replay(command, pack.file('kernels.bin'), 0, count, min(CHUNKS, max(1, count // 4)), limit)
        yield {'tool': tool, 'passed': passed, 'failed': failed, 'lines': notes}
        if failed:
            raise Failed(f'{failed} kernels: {notes[0]}')
    return measure


def items(pack, tests):
    return [Item(f'sanitizer {tool}', check(pack, tests, tool), 90) for tool in ('memcheck', 'racecheck') if pack.manifest['kernels']]
