"""The files of a pack, and the options of a sitting."""
import json
import lzma
import os
import shutil

from sitting import Contender, Failed


class Pack:
    """A folder that scripts/pack-gpu has made. Its files are decompressed into `folder` when they are first used."""

    def __init__(self, source, folder, options):
        self.source, self.folder, self.options = source, folder, options
        self.torch = None  # its version; '' if there is none
        with open(os.path.join(source, 'manifest.json')) as file:
            self.manifest = json.load(file)

    def file(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with lzma.open(os.path.join(self.source, name + '.xz')) as packed, open(path, 'wb') as out:
                shutil.copyfileobj(packed, out)
            os.chmod(path, 0o755)
        return path

    def workloads(self):
        """(name, precision) of each program, the most telling first."""
        return [tuple(program.split('.')) for program in self.manifest['bench']]

    def facts(self, name):
        """The optimizer, the bytes that a step must move, and the limits of inputs of integers."""
        return self.manifest['workloads'][name]

    def launches(self, name, precision):
        """The lines of launches.jsonl that dpc-compile wrote for a program."""
        with open(self.file(f'bench/{name}.{precision}.jsonl')) as file:
            return [json.loads(line) for line in file]

    def command(self, name, precision):
        """The command that runs steps of a program."""
        if f'{name}.{precision}' not in self.manifest['bench']:
            raise Failed(f'the pack has no {name} in {precision}')
        counts = [f'{given}={limit}' for given, limit in self.facts(name)['counts'].items()]
        return [self.file('dpc-bench-steps'), self.file(f'bench/{name}.{precision}.so'), *counts]

    def contender(self, name, precision, limit, **variables):
        return Contender(self.command(name, precision), limit, self.options.round_seconds, **variables)

    def tool(self, *arguments):
        """The command of a tool that measures the device without a program."""
        return [self.file('dpc-bench-device'), *arguments]
