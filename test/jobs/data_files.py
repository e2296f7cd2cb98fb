"""Data in several files: they are read as one, in their order, whatever form they have."""
import gzip
import os

import numpy as np

from programs import data_of, expect

CUTS = {'p-2': (0, 13), 'p-10': (13, 50), 'p-9': (50, 80)}  # sorted by bytes, p-10 comes first
SORTED = ['p-10', 'p-2', 'p-9']


class DataFiles:
    def __init__(self, suite):
        self.suite = suite
        self.arrays = dict(np.load(data_of('mlp')))
        self.folder = suite.path('parts')
        os.makedirs(self.folder, exist_ok=True)
        for name, (begin, end) in CUTS.items():
            rows = {key: value[begin:end] for key, value in self.arrays.items()}
            np.savez(self.part(name + '.npz'), **rows)
            for key, value in rows.items():
                np.save(self.part(f'{key}-{name}.npy'), value)

    def part(self, name):
        return os.path.join(self.folder, name)

    def whole(self, name, order):
        """The npz file that has the rows of all parts."""
        rows = np.concatenate([np.arange(*CUTS[part]) for part in order])
        np.savez(self.suite.path(name), **{key: value[rows] for key, value in self.arrays.items()})
        return self.suite.path(name)

    def program(self, mesh='', *flags):
        return self.suite.trainer('mlp', *([f'--mesh={mesh}'] if mesh else []), *flags)

    def state(self, program, *arguments):
        """The bytes of what a run saves."""
        self.suite.run(program, '--save-params=state.st', *arguments).done()
        with open(self.suite.path('state.st'), 'rb') as file:
            return file.read()

    def like_one(self, mesh, *flags):
        """Shuffled and in file order, listed and by a pattern, the bits of a run with one file."""
        program = self.program(mesh, *flags)
        listed = [f'--data={self.part(name)}.npz' for name in CUTS]
        arrays = [f'--data={key}={self.part(f"{key}-{name}.npy")}' for key in ('x', 'label') for name in CUTS]
        whole, by_name = self.whole('whole.npz', CUTS), self.whole('by-name.npz', SORTED)
        for order in ([], ['--no-shuffle']):
            want = self.state(program, f'--data={whole}', '--epochs=2', *order)
            expect(self.state(program, *listed, '--epochs=2', *order) == want, f'npz files differ from one {order}')
            expect(self.state(program, *arrays, '--epochs=2', *order) == want, f'npy files differ from one {order}')
            want = self.state(program, f'--data={by_name}', '--epochs=2', *order)
            for data in ([f'--data={self.part("p-*.npz")}'],
                         [f'--data=x={self.part("x-p-*.npy")}', f'--data=label={self.part("label-p-*.npy")}']):
                expect(self.state(program, *data, '--epochs=2', *order) == want, f'{data} differs from one file {order}')

    def cut_otherwise(self):
        """Each input's files may be cut in their own way, if all have as many samples."""
        program, whole = self.program(), self.whole('whole.npz', CUTS)
        np.save(self.part('all-labels.npy'), self.arrays['label'])
        data = [*(f'--data=x={self.part(f"x-{name}.npy")}' for name in CUTS), f'--data=label={self.part("all-labels.npy")}']
        expect(self.state(program, *data, '--steps=9') == self.state(program, f'--data={whole}', '--steps=9'), 'differs')
        self.suite.run(program, *data[1:], '--steps=1').refused(
            'label', f'{self.part("all-labels.npy")} has 80 samples, but {self.part("x-p-10.npy")} and 1 more file has 67')

    def resume(self):
        program, listed = self.program(), [f'--data={self.part(name)}.npz' for name in CUTS]
        want = self.state(program, *listed, '--steps=17')
        self.suite.run(program, *listed, '--steps=7', '--checkpoint=parts-run').done()
        got = self.state(program, *listed, '--steps=17', '--checkpoint=parts-run', '--resume')
        expect(got == want, 'the resumed run differs')

    def evaluation(self):
        program, whole = self.program(), self.whole('whole.npz', CUTS)
        train = [program, f'--data={whole}', '--steps=1']
        line = [line for line in self.suite.run(*train, f'--eval-data={whole}').done().out.splitlines() if 'eval at' in line]
        listed = [f'--eval-data={self.part(name)}.npz' for name in CUTS]
        self.suite.run(*train, *listed).done().says(line[0], ', 80 samples, ')
        self.suite.run(*train, f'--eval-data={self.part("p-*.npz")}').done().says(line[0])

    def messages(self):
        """A message counts over all files, and names the one."""
        program = self.program()
        bad = self.arrays['label'][50:80].copy()
        bad[4] = 10
        np.savez(self.part('bad.npz'), x=self.arrays['x'][50:80], label=bad)
        good = [self.part(name + '.npz') for name in ('p-2', 'p-10')]
        for option, before in (('--data', ''), ('--eval-data', '--eval-data: ')):
            data = [] if option == '--data' else [f'--data={data_of("mlp")}']
            self.suite.run(program, *data, *(f'{option}={path}' for path in [*good, self.part('bad.npz')]), '--steps=1').refused(
                f'{before}{self.part("bad.npz")}: array "label": value 10 in sample 54 (4 of this file) is outside [0, 9]')
        np.savez(self.part('lacks.npz'), x=self.arrays['x'])
        self.suite.run(program, f'--data={good[0]}', f'--data={self.part("lacks.npz")}', '--steps=1').refused(
            f'{self.part("lacks.npz")}: no data for input "label"; it has x, the program\'s inputs are x, label')
        np.savez(self.part('uneven.npz'), x=self.arrays['x'][:5], label=self.arrays['label'][:6])
        self.suite.run(program, f'--data={good[0]}', f'--data={self.part("uneven.npz")}', '--steps=1').refused(
            'uneven.npz: array "label" has 6 samples, but ', 'uneven.npz: array "x" has 5')
        np.savez(self.part('few.npz'), x=self.arrays['x'][:3], label=self.arrays['label'][:3])
        self.suite.run(program, *2 * [f'--data={self.part("few.npz")}'], '--steps=1').refused(
            'few.npz and 1 more file: 6 samples, fewer than one batch of 8')
        self.suite.run(program, f'--data={self.part("none-*.npz")}', '--steps=1').refused('none-*.npz: no file matches', code=5)

    def mixed(self):
        program, npz = self.program(), self.part('p-2.npz')
        array = f'label={self.part("label-p-2.npy")}'
        for forms in ((npz, array), (array, npz), (npz, 'tokens:ids.bin'), (array, 'idx:images,labels')):
            self.suite.run(program, *(f'--data={form}' for form in forms), '--steps=1').refused(
                f'data "{forms[0]}" and "{forms[1]}" have two forms: give all in one', code=2)

    def overwrites(self):
        """What a pattern matches is not written over."""
        self.suite.run(self.program(), f'--data={self.part("p-*.npz")}', '--steps=1',
                       f'--save-params={self.part("p-9.npz")}').refused('would overwrite', 'which this run reads (--data)')

    def pattern_is_a_name(self):
        """A file whose name has a bracket is that file."""
        np.savez(self.part('p-[9].npz'), **self.arrays)
        self.suite.run(self.program(), f'--data={self.part("p-[9].npz")}', '--steps=1').done().says(', 80 samples, ')
        os.remove(self.part('p-[9].npz'))

    def idx(self):
        """Images and labels in several pairs, each with its own scale."""
        program, raw = self.program(), np.random.default_rng(1).integers(0, 256, (24, 16)).astype(np.uint8)
        label = self.arrays['label'][:24].astype(np.uint8)

        def write(name, value):
            head = bytes([0, 0, 8, value.ndim]) + b''.join(int(n).to_bytes(4, 'big') for n in value.shape)
            with gzip.open(self.part(name), 'wb') as file:
                file.write(head + value.tobytes())
        for k, (begin, end) in enumerate([(0, 10), (10, 24)]):
            write(f'images-{k}.gz', raw[begin:end])
            write(f'labels-{k}.gz', label[begin:end])
        np.savez(self.part('idx.npz'), x=np.concatenate([raw[:10] / 255, raw[10:] / 100]).astype(np.float32), label=label)
        np.savez(self.part('idx-even.npz'), x=(raw / 255).astype(np.float32), label=label)
        pair = [f'--data=idx:{self.part(f"images-{k}.gz")},{self.part(f"labels-{k}.gz")},scale=1/{by}'
                for k, by in ((0, 255), (1, 100))]
        want = self.state(program, f'--data={self.part("idx.npz")}', '--steps=6')
        expect(self.state(program, *pair, '--steps=6') == want, 'pairs of idx files differ from one npz file')
        want = self.state(program, f'--data={self.part("idx-even.npz")}', '--steps=6')
        got = self.state(program, f'--data=idx:{self.part("images-*.gz")},{self.part("labels-*.gz")},scale=1/255', '--steps=6')
        expect(got == want, 'a pattern of idx files differs from one npz file')
        self.suite.run(program, f'--data=idx:{self.part("images-*.gz")},{self.part("labels-0.gz")}', '--steps=1').refused(
            '2 files of images, but 1 of labels')
        self.suite.run(program, f'--data=idx:{self.part("images-0.gz")},{self.part("labels-1.gz")}', pair[1],
                       '--steps=1').refused('labels-1.gz has 14 samples, but ', 'images-0.gz has 10')

    def tokens(self):
        """Each file is cut into its own windows: none has tokens of two files."""
        program, ids = self.suite.trainer('gpt2'), dict(np.load(data_of('gpt2')))['input_ids'].astype(np.uint16)
        length = ids.shape[1]
        stream = ids.reshape(-1)
        cut = 31 * length + 5
        stream[:cut].tofile(self.part('tokens-0.bin'))
        stream[cut:].tofile(self.part('tokens-1.bin'))

        def windows(part):
            count = (len(part) - 1) // length
            return part[:count * length].reshape(-1, length), part[1:count * length + 1].reshape(-1, length)
        rows = [windows(stream[:cut]), windows(stream[cut:])]
        np.savez(self.part('windows.npz'), input_ids=np.concatenate([x for x, _ in rows]).astype(np.int64),
                 label=np.concatenate([y for _, y in rows]).astype(np.int64))
        want = self.state(program, f'--data={self.part("windows.npz")}', '--steps=8')
        for data in ([f'--data=tokens:{self.part(f"tokens-{k}.bin")}' for k in (0, 1)],
                     [f'--data=tokens:{self.part("tokens-*.bin")},dtype=uint16']):
            expect(self.state(program, *data, '--steps=8') == want, f'{data} differs from its windows')

    def inference(self):
        """Files of an input are read as one there too."""
        program = self.suite.compiled('mlp')
        np.save(self.suite.path('all.npy'), self.arrays['x'])
        self.suite.run(program, '--input=x=all.npy', '--output=logits=one.npy').done()
        self.suite.run(program, *(f'--input=x={self.part(f"x-{name}.npy")}' for name in CUTS), '--output=logits=many.npy').done()
        one, many = (np.load(self.suite.path(name)) for name in ('one.npy', 'many.npy'))
        expect(one.shape[0] == 80 and np.array_equal(one, many), 'the outputs differ')

    def given_twice(self):
        """Of two values one would be ignored; two equal ones are one."""
        program, data = self.program(), f'--data={data_of("mlp")}'
        for first, second in (('--steps=3', '--steps=4'), ('--seed=1', '--seed=2'), ('--lr=1', '--lr=1.0'),
                              ('--log=a.jsonl', '--log=b.jsonl'), ('--nan=stop', '--nan=warn'),
                              ('--comm=local', '--comm=sockets'), ('--resume', '--resume=other'),
                              ('--timeout=5', '--timeout=6'), ('--save-params=a', '--save-params=b')):
            self.suite.run(program, data, first, '--checkpoint=c', second).refused(
                f'{first} and {second} contradict each other: give one', code=2)
        self.suite.run(program, data, '--steps=1', '--steps=1', '--no-shuffle', '--no-shuffle').done()
        for given, text in ((['-n', '1', '-n', '2'], '-n1 and -n2'), (['-n1', '-n', '2'], '-n1 and -n2'),
                            (['--max-restarts=1', '--max-restarts=2'], '--max-restarts=1 and --max-restarts=2')):
            self.suite.tool('dpc-run', *given, program, data).refused(f'{text} contradict each other: give one', code=2)
        self.suite.tool('dpc-run', '-n1', '-n', '1', program, data, '--steps=1').done()


def checks(suite):
    tests = DataFiles(suite)
    for mesh, flags in (('', ()), ('data=2', ()), ('data=2', ('--microbatches=2', '--precision=bf16', '--zero=3'))):
        yield f'daily data like one file {mesh} {" ".join(flags)}', lambda mesh=mesh, flags=flags: tests.like_one(mesh, *flags)
    for check in (tests.cut_otherwise, tests.resume, tests.evaluation, tests.messages, tests.mixed, tests.overwrites,
                  tests.pattern_is_a_name, tests.idx, tests.tokens, tests.inference):
        yield 'daily data ' + check.__name__.replace('_', ' '), check
    yield 'daily options given twice', tests.given_twice
