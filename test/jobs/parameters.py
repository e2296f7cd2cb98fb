"""--init-params and --save-params: frozen parameters, buffers, parts of a file, names that differ."""
import json
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper

from programs import data_of, expect, initializers, model_of, read_safetensors, write_safetensors

STEPS = 3


def others(case, seed=5):
    """Other values for all of a model's floats, as another training would leave them."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, value in initializers(case).items():
        if value.dtype.kind == 'f':
            value = value + 0.05 * rng.standard_normal(value.shape).astype(value.dtype)
            made[name] = np.abs(value) if 'running_var' in name else value
    return made


def with_values(suite, case, values):
    """The model with these values in it."""
    made = onnx.load(model_of(case))
    for tensor in made.graph.initializer:
        if tensor.name in values:
            tensor.CopyFrom(numpy_helper.from_array(values[tensor.name], tensor.name))
    path = suite.path(f'{case}-with-values.onnx')
    onnx.save(made, path)
    return path


class Parameters:
    def __init__(self, suite):
        self.suite = suite
        self.values = others('mlp')
        self.file = write_safetensors(suite.path('weights.safetensors'), self.values)

    def start(self, *sources, program=None, steps=1, save='start.safetensors', read=None):
        """The parameters after one step at a rate so small that it changes nothing in f32."""
        run = self.suite.train(program or self.suite.trainer('mlp', optimizer='sgd,lr=1e-30'), 'mlp',
                               f'--steps={steps}', f'--save-params={save}',
                               *(f'--init-params={source}' for source in sources))
        path = self.suite.path(read or save.split(',')[0])
        return run, (read_safetensors(path) if run.code == 0 else {})

    def expect_values(self, got, want):
        expect(set(got) == set(want), f'saved are {sorted(got)}, not {sorted(want)}')
        for name, value in want.items():
            expect(np.array_equal(got[name], value), f"'{name}' has other values")

    def trains_alike(self, case, frozen, mesh, precision):
        """A file of parameters does what the same values in the model do, frozen ones and buffers too."""
        values = others(case)
        weights = write_safetensors(self.suite.path(f'{case}.safetensors'), values)
        flags = [f'--frozen={glob}' for glob in frozen] + [f'--precision={precision}'] + ([f'--mesh={mesh}'] if mesh else [])
        held = self.suite.trainer(case, *flags, model=with_values(self.suite, case, values))
        given = self.suite.trainer(case, *flags)
        arguments = [f'--steps={STEPS}', f'--eval-data={data_of(case)}', '--eval-every=1']
        self.suite.train(held, case, *arguments, '--log=held.jsonl', '--save-params=held.st').done()
        self.suite.train(given, case, *arguments, '--log=given.jsonl', '--save-params=given.st',
                         '--save-onnx=given.onnx', f'--init-params={weights}').done()
        for want, got in zip(self.suite.log('held.jsonl'), self.suite.log('given.jsonl')):
            for key in ('loss', 'eval_loss'):
                expect(want.get(key) == got.get(key), f'step {want["step"]}: {key} {got.get(key)}, not {want.get(key)}')
        saved = read_safetensors(self.suite.path('given.st'))
        self.expect_values(saved, read_safetensors(self.suite.path('held.st')))
        expect(set(values) <= set(saved), f'not saved: {sorted(set(values) - set(saved))}')
        for tensor in onnx.load(self.suite.path('given.onnx')).graph.initializer:
            if tensor.name in saved:
                value = numpy_helper.to_array(tensor)
                expect(np.array_equal(value, saved[tensor.name].astype(value.dtype)), f"'{tensor.name}' of the ONNX file")
        moved = {name for name, value in values.items() if not np.array_equal(saved[name], value.astype(saved[name].dtype))}
        still = {name for name in values if any(name.startswith(glob.rstrip('*')) for glob in frozen)}
        expect(not moved & {n for n in still if 'running' not in n} and moved, f'changed by training: {sorted(moved)}')

    def inference(self):
        """An inference program computes with the file's parameters."""
        np.save(self.suite.path('x.npy'), np.load(data_of('mlp'))['x'])
        held = self.suite.compiled('mlp', model=with_values(self.suite, 'mlp', self.values))
        given = self.suite.compiled('mlp')
        for program, name, more in ((held, 'held', []), (given, 'given', [f'--init-params={self.file}'])):
            self.suite.run(program, '--input=x=x.npy', f'--output=logits={name}.npy', *more).done()
        expect(np.array_equal(np.load(self.suite.path('held.npy')), np.load(self.suite.path('given.npy'))),
               'other logits than with the values in the model')

    def missing(self):
        """A parameter that the file lacks is an error, unless a part is asked for; the rest is listed."""
        part = {name: value for name, value in self.values.items() if name.startswith('fc1')}
        path = write_safetensors(self.suite.path('part.safetensors'), {**part, 'pooler.weight': np.zeros(3, np.float32),
                                                                          'bn1.num_batches_tracked': np.array(7)})
        self.start(path)[0].refused('part.safetensors: lacks 4 of the program\'s parameters: fc2.weight, fc2.bias, fc3',
                                    'partial')
        own = initializers('mlp')
        for setting in ('partial', 'only=fc1.*', 'only=fc1.weight,only=*1.bias'):
            run, saved = self.start(f'{path},{setting}')
            run.done().says('part.safetensors: 2 of 6 parameters and buffers loaded',
                            'not loaded, of the program: fc2.weight, fc2.bias, fc3.weight, fc3.bias\n',
                            'not in the program, of the file: pooler.weight\n')
            self.expect_values(saved, {**own, **part})
        # Long lists end after eight names.
        more = write_safetensors(self.suite.path('more.safetensors'), {f'extra{k}': np.zeros(3, np.float32) for k in range(11)})
        run = self.suite.train(self.suite.trainer('gpt2'), 'gpt2', '--steps=1', f'--init-params={more},partial').done()
        run.says('not in the program, of the file: extra0, extra1, extra10, extra2, extra3, extra4, extra5, extra6 and 3 more\n')
        kept = [line for line in run.out.splitlines() if 'not loaded, of the program' in line]
        expect(len(kept) == 1 and kept[0].count(', ') == 8 and kept[0].endswith(' more'), f'{kept}')
        self.start(f'{path},only=fc1.*,only=fc2.*')[0].refused('lacks 2', 'fc2.weight, fc2.bias')
        self.start(f'{path},only=fc4.*')[0].refused('only=fc4.*: the program has no parameter of this name')
        self.start(f'{path},except=head.*')[0].refused('except=head.*: the program has no parameter of this name')

    def missing_statistics(self):
        """Running statistics that the step changes belong to the parameters."""
        values = {n: v for n, v in others('bn_cnn').items() if n != 'bn2.running_var'}
        path = write_safetensors(self.suite.path('statistics.safetensors'), values)
        self.suite.train(self.suite.trainer('bn_cnn', '--frozen=conv*', '--precision=f32'), 'bn_cnn', '--steps=1',
                         f'--init-params={path}').refused('lacks 1', 'bn2.running_var')

    def head(self):
        """The usual fine-tuning: all but the head, whose shape is another; and from two files."""
        odd = {**self.values, 'fc3.weight': np.ones((7, 32), np.float32), 'fc3.bias': np.ones(7, np.float32)}
        path = write_safetensors(self.suite.path('odd.safetensors'), odd)
        for setting in ('', ',partial'):
            self.start(path + setting)[0].refused(
                'odd.safetensors: fc3.weight has shape [7, 32], the program needs [10, 32]')
        body = {name: value for name, value in self.values.items() if not name.startswith('fc3')}
        run, saved = self.start(f'{path},except=fc3.*')
        run.done().says('4 of 6', 'not loaded, of the program: fc3.weight, fc3.bias\n')
        self.expect_values(saved, {**initializers('mlp'), **body})
        _, saved = self.start(f'{path},except=fc3.*', f'{self.file},only=fc3.*')
        self.expect_values(saved, self.values)

    def prefixes(self):
        """Names with module. in front, as DistributedDataParallel has them; and without what the program has."""
        ddp = write_safetensors(self.suite.path('ddp.safetensors'),
                                {'module.' + name: value for name, value in self.values.items()})
        self.start(ddp)[0].refused('lacks 6', 'the file has "module.fc1.', 'add ,strip=module.')
        _, saved = self.start(f'{ddp},strip=module.')
        self.expect_values(saved, self.values)
        self.start(f'{self.file},strip=module.')[0].refused('no tensor\'s name begins with "module."')
        bare = write_safetensors(self.suite.path('bare.safetensors'),
                                 {name[4:]: value for name, value in self.values.items() if name.startswith('fc1.')})
        self.start(bare)[0].refused('lacks 6', 'add ,add=fc1.')
        _, saved = self.start(f'{bare},only=fc1.*,add=fc1.')
        self.expect_values(saved, {**initializers('mlp'), **{n: v for n, v in self.values.items() if n.startswith('fc1')}})
        both = write_safetensors(self.suite.path('both.safetensors'),
                                 {'module.fc1.bias': self.values['fc1.bias'], **self.values})
        self.start(f'{both},strip=module.')[0].refused('"module.fc1.bias" and "fc1.bias" are both fc1.bias')

    def saved_part(self):
        """--save-params writes the names that are asked for, and changes them."""
        layer = {name[4:]: value for name, value in self.values.items() if name.startswith('fc1.')}
        for setting, want in ((',only=fc1.*,strip=fc1.', layer), (',only=fc1.*', {'fc1.' + n: v for n, v in layer.items()}),
                              (',except=fc2.*,except=fc3.*,strip=fc1.,add=m.', {'m.' + n: v for n, v in layer.items()}),
                              (',strip=fc,add=n', {'n' + n[2:]: v for n, v in self.values.items()})):
            run = self.start(self.file, save='part.safetensors' + setting)[0].done()
            self.expect_values(read_safetensors(self.suite.path('part.safetensors')), want)
        self.start(self.file, save='wrapped,add=module.', read='wrapped')
        _, saved = self.start('wrapped,strip=module.')
        self.expect_values(saved, self.values)
        before = self.suite.listing()
        for setting, word in ((',only=fc4.*', 'only=fc4.*: the program has no parameter of this name'),
                              (',except=fc4.*', 'except=fc4.*: the program has no parameter of this name'),
                              (',strip=m.', 'no tensor\'s name begins with "m."'),
                              (',only=fc2.*,strip=fc1.', 'no tensor\'s name begins with "fc1."'),
                              (',only=fc1.bias,strip=fc1.bias', 'strip=fc1.bias leaves nothing of the name fc1.bias'),
                              (',only=fc1.*,except=fc*', 'only= and except= leave nothing to write')):
            run = self.start(save='refused' + setting)[0].refused('--save-params: ' + word)
            expect('step 1' not in run.out, f'refused after a step: {run.out}')
        for setting, word in ((',partial', 'partial is a setting of --init-params'), (',only=', '"only=" is not only=GLOB'),
                              (',keep=x', 'unknown setting "keep=x"'), (',add=a,add=b', 'add=a and add=b exclude each other')):
            self.start(save='refused' + setting)[0].refused('--save-params: ' + word, code=2)
        self.start(save=',only=x')[0].refused('--save-params: ",only=x" names no file', code=2)
        expect(self.suite.listing() == before, 'what is refused leaves files')

    def saved_alike(self):
        """Two names that become one."""
        arrays = {name: np.ones((16, 16), np.float32) for name in ('a.weight', 'weight')}
        graph = helper.make_graph(
            [helper.make_node('MatMul', ['x', 'a.weight'], ['h']), helper.make_node('MatMul', ['h', 'weight'], ['y'])], 'two',
            [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [8, 16])],
            [helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, [8, 16])],
            [numpy_helper.from_array(value, name) for name, value in arrays.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), self.suite.path('two.onnx'))
        program = self.suite.trainer('two', model=self.suite.path('two.onnx'))
        self.suite.train(program, 'mlp', '--steps=1', '--save-params=two.st,strip=a.').refused(
            '--save-params: a.weight and weight are both written as weight')

    def shards(self):
        """Hugging Face's folder: an index and files beside it, or one file."""
        folder = self.suite.path('sharded')
        os.mkdir(folder)
        parts = [{name: value for name, value in self.values.items() if ('fc1' in name) == first} for first in (True, False)]
        files = [f'model-0000{i}-of-00002.safetensors' for i in (1, 2)]
        for name, part in zip(files, parts):
            write_safetensors(os.path.join(folder, name), part)

        def index(text=None, **changed):
            places = {name: files['fc1' not in name] for name in self.values}
            with open(os.path.join(folder, 'model.safetensors.index.json'), 'w') as file:
                file.write(text or json.dumps({'metadata': {'total_size': 1}, 'weight_map': {**places, **changed}}))
        index()
        for source in ('sharded', 'sharded/', 'sharded/model.safetensors.index.json'):
            run, saved = self.start(source)
            run.done().says('6 of 6 parameters and buffers loaded')
            self.expect_values(saved, self.values)
        _, saved = self.start('sharded,only=fc2.*')
        self.expect_values(saved, {**initializers('mlp'), **{n: v for n, v in self.values.items() if n.startswith('fc2')}})
        index(**{'fc9.weight': files[0]})
        self.start('sharded')[0].refused(f'{files[0]} lacks tensor "fc9.weight", which sharded/model.safetensors.index.json')
        index(**{'fc9.weight': 'absent.safetensors'})
        self.start('sharded')[0].refused('sharded/absent.safetensors: No such file, but sharded/model.safetensors.index.json lists it',
                                         code=5)
        index(**{'fc9.weight': '../' + files[0]})
        self.start('sharded')[0].refused('which is no file beside it')
        for text in ('{', '[]', '{"weight_map": 1}', '{"metadata": {}}', '{"weight_map": {"a": 1}}', '[' * 100000):
            index(text)
            self.start('sharded')[0].refused('model.safetensors.index.json: ')
        os.remove(os.path.join(folder, 'model.safetensors.index.json'))
        self.start('sharded')[0].refused('sharded has neither manifest.json (a checkpoint) nor model.safetensors.index.json')
        write_safetensors(os.path.join(folder, 'model.safetensors'), self.values)
        _, saved = self.start('sharded')
        self.expect_values(saved, self.values)

    def extents_of_one(self):
        """[1, 1, D] and [D] are the same elements; other extents are not."""
        others = {name: value[None, None] if value.ndim == 1 else value[:, None] for name, value in self.values.items()}
        _, saved = self.start(write_safetensors(self.suite.path('ones.safetensors'), others))
        self.expect_values(saved, self.values)
        turned = {**self.values, 'fc1.weight': np.ascontiguousarray(self.values['fc1.weight'].T)}
        self.start(write_safetensors(self.suite.path('turned.safetensors'), turned))[0].refused('fc1.weight has shape')

    def checkpoint(self):
        """The state of a checkpoint is a file of parameters; its optimizer state is left out, and said so."""
        program = self.suite.trainer('mlp')
        self.suite.train(program, 'mlp', '--steps=2', '--checkpoint=run', '--save-params=two.st').done()
        run, saved = self.start('run/step-2', program=self.suite.trainer('mlp', optimizer='adam,lr=1e-30'))
        run.done().says('6 of 6', 'the optimizer state in it is left out (12 tensors)')
        self.expect_values(saved, read_safetensors(self.suite.path('two.st')))
        self.start('run')[0].refused('run is a folder of checkpoints: name one, such as the newest, run/step-2')
        # Another optimizer's program and one without an optimizer have none of these tensors: one line says so, too.
        run, saved = self.start('run/step-2')
        run.done().says('6 of 6', 'the optimizer state in it is left out (12 tensors): --checkpoint with --resume')
        expect('not in the program' not in run.out, f'lists the optimizer state: {run.out}')
        np.save(self.suite.path('x.npy'), np.load(data_of('mlp'))['x'])
        run = self.suite.run(self.suite.compiled('mlp'), '--input=x=x.npy', '--output=logits=logits.npy', '--init-params=run/step-2')
        run.done().says('6 of 6', 'the optimizer state in it is left out (12 tensors)\n')
        expect('not in the program' not in run.out, f'lists the optimizer state: {run.out}')
        run, saved = self.start('run/step-2/,only=fc1.*', program=self.suite.trainer('mlp', optimizer='adam,lr=1e-30'))
        run.done().says('2 of 6')

    def constants(self):
        """A constant that the program was compiled with cannot be another: here a mask of pruned weights."""
        rng = np.random.default_rng(1)
        arrays = {'weight': rng.standard_normal((40, 40)).astype(np.float32),
                  'mask': rng.integers(0, 2, (40, 40)).astype(np.float32)}
        graph = helper.make_graph(
            [helper.make_node('Mul', ['weight', 'mask'], ['pruned']), helper.make_node('MatMul', ['x', 'pruned'], ['y'])],
            'pruned', [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [8, 40])],
            [helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, [8, 40])],
            [numpy_helper.from_array(value, name) for name, value in arrays.items()])
        model, data = self.suite.path('pruned.onnx'), self.suite.path('pruned.npz')
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), model)
        np.savez(data, x=rng.standard_normal((16, 40)).astype(np.float32), label=rng.integers(0, 40, 16))
        for flags in ([], ['--mesh=data=2']):
            program = self.suite.trainer('pruned', *flags, model=model, optimizer='sgd,lr=1e-30')

            def start(**changed):
                path = write_safetensors(self.suite.path('pruned.st'), {**arrays, **changed})
                return self.suite.train(program, 'pruned', '--steps=1', f'--init-params={path}', data=data)
            start().done().says('1 of 1')
            start(weight=-arrays['weight']).done()
            start(mask=1 - arrays['mask']).refused(
                'pruned.st: mask is a constant that the program was compiled with, and has other values in the file')
            start(mask=arrays['mask'][:39]).refused('pruned.st: mask has shape [39, 40], the program needs [40, 40]')

    def brought(self):
        """--params=none: frozen parameters must be brought too."""
        program = self.suite.trainer('mlp', '--params=none', '--frozen=fc1.*', optimizer='sgd,lr=1e-30')
        self.suite.train(program, 'mlp', '--steps=1').refused('--params=none')
        self.start(f'{self.file},except=fc1.*', program=program)[0].refused('fc1.', '--params=none')
        _, saved = self.start(self.file, program=program)
        self.expect_values(saved, self.values)

    def usage(self):
        for source, word in ((',only=x', 'names no file'), ('f,only', 'only=GLOB'), ('f,only=', 'only=GLOB'),
                             ('f,keep=x', 'unknown setting "keep=x"')):
            self.start(source)[0].refused('--init-params', word, code=2)
        with open(self.suite.path('weights.pt'), 'wb') as file:
            file.write(b'PK\x03\x04' + bytes(60))
        self.start('weights.pt')[0].refused('weights.pt', 'torch.save', 'safetensors.torch.save_file')


def checks(suite):
    tests = Parameters(suite)
    for case, frozen, mesh, precision in (('mlp', ['fc1.*'], '', 'f32'), ('mlp', ['fc1.*', 'fc2.*'], 'data=2', 'f64'),
                                          ('bn_cnn', ['conv*'], '', 'f32'), ('bn_cnn', ['*.bias', 'bn1*'], 'data=2', 'f64')):
        yield f'init-params {case} {mesh or "one rank"} {precision}', \
            lambda a=(case, frozen, mesh, precision): tests.trains_alike(*a)
    for check in (tests.inference, tests.missing, tests.missing_statistics, tests.head, tests.prefixes,
                  tests.saved_part, tests.saved_alike, tests.shards, tests.extents_of_one, tests.checkpoint,
                  tests.constants, tests.brought, tests.usage):
        yield 'init-params ' + check.__name__.replace('_', ' '), check
