"""What is wrong with a request is said before the first step: outputs that cannot be written, data that does not fit."""
import os
import shutil

import numpy as np

from programs import Run, data_of, expect

OUTPUTS = ['--save-params', '--save-onnx', '--trace', '--log', '--checkpoint']


class Refusals:
    def __init__(self, suite):
        self.suite = suite
        self.arrays = dict(np.load(data_of('mlp')))

    def program(self, mesh=''):
        return self.suite.trainer('mlp', *([f'--mesh={mesh}'] if mesh else []))

    def data(self, name, **arrays):
        np.savez(self.suite.path(name), **{**self.arrays, **arrays})
        return self.suite.path(name)

    def unwritable(self, option):
        """A missing folder, a folder in place of a file (a file in place of a folder), a path through a file."""
        program = self.program()
        with open(self.suite.path('file'), 'w') as file:
            file.write('precious')
        os.makedirs(self.suite.path('folder/full'), exist_ok=True)
        in_place = 'file' if option == '--checkpoint' else 'folder'
        bad = [('absent/out', 'No such file'), ('file/out', 'Not a directory'),
               (in_place, 'Not a directory' if option == '--checkpoint' else 'Is a directory')]
        if os.geteuid():
            os.makedirs(self.suite.path('closed'), exist_ok=True)
            os.chmod(self.suite.path('closed'), 0o500)
            bad.append(('closed/out', 'Permission denied'))
        elif os.path.isdir('/proc/self'):
            bad.append(('/proc/out', ''))  # nobody makes files there
        before = self.suite.listing()
        for path, why in bad:
            # What comes before it in the checks is not touched either.
            others = ['--log=file'] if option != '--log' else ['--save-params=file']
            self.suite.train(program, 'mlp', '--steps=1', f'{option}={path}', *others).refused(
                f'{option}: {path}: cannot be written: {why}', code=5)
        expect(self.suite.listing() == before, 'files were changed')

    def unwritable_on_ranks(self):
        program = self.program('data=2')
        before = self.suite.listing()
        os.makedirs(self.suite.path('t.rank1.json'), exist_ok=True)
        self.suite.train(program, 'mlp', '--steps=1', '--save-onnx=absent/x').refused('--save-onnx: absent/x', code=5)
        self.suite.train(program, 'mlp', '--steps=1', '--trace=t.json').refused('--trace: t.rank1.json', 'Is a directory',
                                                                                    code=5)
        os.rmdir(self.suite.path('t.rank1.json'))
        expect(self.suite.listing() == before, 'files were left')

    def nothing_left(self):
        """What could be written is not there when something else is wrong."""
        bad, program = self.data('bad.npz', label=np.full(80, 99)), self.program()
        before = self.suite.listing()
        self.suite.train(program, 'mlp', '--steps=1', *(f'{o}=new{o}' for o in OUTPUTS), data=bad).refused('99')
        expect(self.suite.listing() == before, 'files were left')
        self.suite.train(program, 'mlp', '--steps=1', *(f'{o}=new{o}' for o in OUTPUTS)).done()
        for option in OUTPUTS:
            expect(os.path.exists(self.suite.path('new' + option)), f'{option} wrote nothing')

    def same_file(self):
        self.suite.train(self.program(), 'mlp', '--steps=1', '--save-params=same', '--save-onnx=same').refused(
            '--save-params and --save-onnx both write same')
        # Whatever a file is called, and however it is reached.
        program, before = self.program(), self.suite.listing()
        folder = os.path.basename(self.suite.path(''.rstrip('/')).rstrip('/'))
        shutil.copy(data_of('mlp'), self.suite.path('mine.npz'))
        os.symlink('mine.npz', self.suite.path('linked.npz'))
        for options, want in ((('--save-params=same', f'--log=../{folder}/same'), '--log and --save-params both write same'),
                              (('--log=./mine.npz',), '--log would overwrite ./mine.npz, which this run reads (--data)'),
                              (('--save-params=linked.npz',),
                               '--save-params would overwrite linked.npz, which this run reads (--data)'),
                              ((f'--trace=./{os.path.basename(program)}',), 'which this run reads (the program)')):
            self.suite.train(program, 'mlp', '--steps=1', *options, data='mine.npz').refused(want)
        self.suite.train(program, 'mlp', '--steps=1', '--log=new.jsonl', '--eval-data=./new.jsonl').refused(
            '--log would overwrite new.jsonl, which this run reads (--eval-data)')
        self.suite.train(program, 'mlp', '--steps=1', '--log=/dev/null', '--save-params=/dev/null', data='mine.npz').done()
        for name in ('mine.npz', 'linked.npz'):
            os.remove(self.suite.path(name))
        expect(self.suite.listing() == before, 'files were changed')

    def inference_outputs(self):
        np.save(self.suite.path('rows.npy'), self.arrays['x'])
        self.suite.run(self.suite.compiled('mlp'), '--input=x=rows.npy', '--output=logits=absent/y.npy').refused(
            '--output=logits: absent/y.npy: cannot be written', code=5)
        self.suite.run(self.suite.compiled('mlp'), '--input=x=rows.npy', '--output=logits=y.npy', '--check-state=3').refused(
            'use --input and --output, not --check-state', code=2)

    def labels(self):
        """A label out of range is found before the first step, wherever it stands."""
        label = self.arrays['label'].copy()
        label[77] = 10
        bad = self.data('labels.npz', label=label)
        words = ('labels.npz: array "label": value 10 in sample 77 is outside [0, 9], the range of input label '
                 '(-100, the ignore-index that the program was compiled with, leaves a label out)',)
        for mesh in ('', 'data=2'):
            self.suite.train(self.program(mesh), 'mlp', '--steps=1', '--log=labels.jsonl', data=bad).refused(*words)
        self.suite.train(self.program(), 'mlp', '--steps=1', f'--eval-data={bad}').refused('--eval-data: ', *words)
        expect(not os.path.exists(self.suite.path('labels.jsonl')), 'a step was logged')
        label[77] = -100  # ignored
        self.suite.train(self.program(), 'mlp', '--steps=1', data=self.data('labels.npz', label=label)).done()

    def indices(self):
        """Indices of a table too, in training and inference."""
        arrays = dict(np.load(data_of('gpt2')))
        arrays['input_ids'][79, 3] = 61
        np.savez(self.suite.path('ids.npz'), **arrays)
        np.save(self.suite.path('ids.npy'), arrays['input_ids'])
        words = ('value 61 in sample 79 is outside [', ', 60], the range of input input_ids')
        self.suite.train(self.suite.trainer('gpt2'), 'gpt2', '--steps=1', data=self.suite.path('ids.npz')).refused(
            'ids.npz: array "input_ids"', *words)
        self.suite.run(self.suite.compiled('gpt2'), '--input=input_ids=ids.npy', '--output=logits=y.npy',
                       '--trace=batches.json').refused('ids.npy', *words)
        for name in ('y.npy', 'batches.json'):
            expect(not os.path.exists(self.suite.path(name)), f'{name} was written')

    def large_files(self):
        """A file that is too large to be read at once is checked while it is read."""
        program, path = self.suite.trainer('gpt2'), self.suite.path('tokens.bin')
        with open(path, 'wb') as file:  # more than a GiB, nearly all of it a hole
            file.truncate(1100 << 20)
            file.seek((1100 << 20) - 200)
            file.write(b'\xff\xff')
        data = f'tokens:{path}'
        self.suite.train(program, 'gpt2', '--steps=1', data=data).done()
        with open(path, 'r+b') as file:
            file.write(b'\xff\xff')
        self.suite.train(program, 'gpt2', '--steps=1', data=data).refused(
            'tokens.bin: value 65535 in sample 0 is outside', ', 60], the range of input input_ids')
        os.remove(path)

    def tokens_of_arrays(self):
        ids = np.load(data_of('gpt2'))['input_ids'].astype(np.uint16)
        np.save(self.suite.path('tokens.npy'), ids)
        np.savez(self.suite.path('tokens.npz'), ids)
        program = self.suite.trainer('gpt2')
        for name, kind in (('tokens.npy', 'an npy file'), ('tokens.npz', 'an npz file')):
            self.suite.train(program, 'gpt2', '--steps=1', data=f'tokens:{name}').refused(
                f'{name} is {kind}, whose header would be read as tokens')
        ids.tofile(self.suite.path('tokens.bin'))
        self.suite.train(program, 'gpt2', '--steps=1', data='tokens:tokens.bin').done()

    def array_names(self):
        """A wrong name is answered with those that there are."""
        np.savez(self.suite.path('names.npz'), images=self.arrays['x'], labels=self.arrays['label'])
        self.suite.train(self.program(), 'mlp', '--steps=1', data='names.npz').refused(
            'names.npz: no data for input "x"', 'it has images, labels', 'the program\'s inputs are x, label')
        np.savez(self.suite.path('names.npz'), x=self.arrays['x'], other=self.arrays['label'], Labels=self.arrays['label'])
        self.suite.train(self.program(), 'mlp', '--steps=1', data='names.npz').refused(
            'no data for input "label" (is "Labels" meant?); it has x, other, Labels, the program\'s inputs are x, label')
        np.savez(self.suite.path('names.npz'), x=self.arrays['x'], y=self.arrays['label'], target=self.arrays['label'])
        self.suite.train(self.program(), 'mlp', '--steps=1', data='names.npz').refused('no data for input "label"; it has x, y')
        np.save(self.suite.path('x.npy'), self.arrays['x'])
        self.suite.train(self.program(), 'mlp', '--steps=1', data='image=x.npy').refused(
            'the program has no input "image", but: x, label')
        self.suite.run(self.suite.compiled('mlp'), '--input=image=x.npy', '--output=logits=y.npy').refused(
            'the program has no input "image", but: x')

    def commas(self):
        """Files between commas are no list: the option is given once for each."""
        for name in ('a', 'b'):
            self.data(f'{name}.npz')
            np.save(self.suite.path(f'{name}.npy'), self.arrays['x'])
        program = self.program()
        for data, words in (('a.npz,b.npz', 'a.npz,b.npz: no such file, but a.npz, b.npz are there: give the option once for each'),
                            ('x=a.npy,b.npy', 'a.npy,b.npy: no such file, but a.npy, b.npy are there')):
            self.suite.train(program, 'mlp', '--steps=1', data=data).refused(words, code=2)
        self.suite.train(program, 'mlp', '--steps=1', '--eval-data=a.npz,b.npz').refused('--eval-data: a.npz,b.npz: no such', code=2)
        self.suite.train(program, 'mlp', '--steps=1', data='a.npz,c.npz').refused('a.npz,c.npz: ', 'No such file', code=5)
        shutil.copy(self.suite.path('a.npz'), self.suite.path('a.npz,b.npz'))
        self.suite.train(program, 'mlp', '--steps=1', data='a.npz,b.npz').done()

    def alone(self):
        """A program of several ranks that is started by itself names its launcher."""
        program = self.program('data=2')
        Run([program, f'--data={data_of("mlp")}', '--steps=1'], self.suite.folder).refused(
            f'the program was compiled for 2 ranks: dpc-run {program} starts them')
        self.suite.tool('dpc-run', '-n', '1', program, f'--data={data_of("mlp")}', '--steps=1').refused(
            'the program was compiled for 2 ranks, this run has 1 (dpc-run -n 2)')

    def evaluated_data(self):
        self.suite.run(self.program(), '--evaluate', f'--data={data_of("mlp")}').refused(
            '--evaluate excludes --data: it takes its data by --eval-data', code=2)


def checks(suite):
    tests = Refusals(suite)
    for option in OUTPUTS:
        yield f'before the first step {option}', lambda option=option: tests.unwritable(option)
    for check in (tests.unwritable_on_ranks, tests.nothing_left, tests.same_file, tests.inference_outputs, tests.labels,
                  tests.indices, tests.large_files, tests.tokens_of_arrays):
        yield 'before the first step ' + check.__name__.replace('_', ' '), check
    for check in (tests.array_names, tests.commas, tests.alone, tests.evaluated_data):
        yield 'daily refusal of ' + check.__name__.replace('_', ' '), check
