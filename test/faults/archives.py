"""Data files."""
import zipfile

import numpy as np

from harness import damage


def archives(tests):
    """Data files that are damaged."""
    for compressed in (False, True):
        for name in ('x', 'label'):
            def check(compressed=compressed, name=name):
                room = tests.room()
                path = f'{room}/data.npz'
                (np.savez_compressed if compressed else np.savez)(path, **dict(np.load(tests.data)))
                with zipfile.ZipFile(path) as archive:
                    entry = archive.getinfo(name + '.npy')
                    at = entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2
                with open(path, 'rb') as file:  # the local header's extra field lies before the data
                    file.seek(entry.header_offset + 28)
                    at += int.from_bytes(file.read(2), 'little')
                damage(path, at)
                for ranks in (1, 2):
                    job = tests.start(ranks, '--steps=2', command=[tests.program(ranks), f'--data={path}'])
                    job.expect_cause(1, (path, f'"{name}.npy"',
                                         'damaged' if compressed else 'checksum does not match'), 20)
            yield f'npz: damaged {"deflated" if compressed else "stored"} {name}', check
