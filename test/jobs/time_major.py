"""Models whose samples are not in the first dimension: labels have theirs where the logits have them."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from programs import expect

BATCH, FEATURES, CLASSES = 4, 3, 5


class TimeMajor:
    def __init__(self, suite):
        self.suite = suite

    def model(self, name, steps, time_major, flattens=False, batch=BATCH):
        """x @ w + b over [samples, steps] or [steps, samples], and the same through [steps * samples] rows."""
        rng = np.random.default_rng(5)
        parameters = [numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), key)
                      for key, shape in (('w', (FEATURES, CLASSES)), ('b', (CLASSES,)))]
        outer = [steps, batch] if time_major else [batch, steps]
        nodes = [helper.make_node('MatMul', ['rows' if flattens else 'x', 'w'], ['product']),
                 helper.make_node('Add', ['product', 'b'], ['sums' if flattens else 'logits'])]
        if flattens:
            for key, shape in (('flat', [-1, FEATURES]), ('whole', [*outer, CLASSES])):
                parameters.append(numpy_helper.from_array(np.array(shape, np.int64), key))
            nodes = [helper.make_node('Reshape', ['x', 'flat'], ['rows']), *nodes,
                     helper.make_node('Reshape', ['sums', 'whole'], ['logits'])]
        graph = helper.make_graph(nodes, 'model', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [*outer, FEATURES])],
                                  [helper.make_tensor_value_info('logits', TensorProto.FLOAT, [*outer, CLASSES])], parameters)
        path = self.suite.path(f'{name}.onnx')
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9), path)
        return path

    def data(self, steps, loss, as_input=False):
        """Samples first, or where the input has them."""
        rng, path = np.random.default_rng(6), self.suite.path(f'steps{steps}-{loss}-{as_input}.npz')
        x = rng.standard_normal((11, steps, FEATURES)).astype(np.float32)
        if loss == 'cross-entropy':
            label = rng.integers(0, CLASSES, (11, steps))
            label[3, 1] = -100
        else:
            label = rng.random((11, steps, CLASSES)).astype(np.float32)
        np.savez(path, **{key: value.swapaxes(0, 1) if as_input else value for key, value in (('x', x), ('label', label))})
        return path

    def run(self, model, steps, loss, *flags, as_input=False):
        """Losses of the steps, and what the last evaluation prints, over 11 samples: the last batch is not full."""
        program = self.suite.compiled('time-major', f'--loss={loss}', '--optimizer=sgd,lr=0.3', '--precision=f64', *flags,
                                      model=model)
        data = self.data(steps, loss, as_input)
        run = self.suite.run(program, f'--data={data}', f'--eval-data={data}', '--epochs=3', '--log=time.jsonl').done()
        return ([line['loss'] for line in self.suite.log('time.jsonl')],
                [float(word) for line in run.out.splitlines() if line.startswith('eval ') for word in line.split()[5::2]])

    def same(self, steps, loss, *flags):
        """The same training as with samples first, also where there are as many steps as samples."""
        first = self.model(f'first{steps}', steps, time_major=False)
        want, evaluated = self.run(first, steps, loss)
        for flattens, as_input in ((False, False), (True, False), (True, True)):
            model = self.model(f'time{steps}{flattens}', steps, True, flattens)
            got, evaluation = self.run(model, steps, loss, '--batch-dim=x:1', *flags, as_input=as_input)
            expect(len(got) == len(want) == 6 and np.allclose(got, want, rtol=1e-12, atol=0), f'losses {got}, not {want}')
            expect(len(evaluation) == len(evaluated) > 1 and np.allclose(evaluation, evaluated, rtol=1e-5),
                   f'evaluation {evaluation}, not {evaluated}')

    def named(self):
        """A dimension that the file calls the batch counts the samples without being asked for, and the notes say so."""
        want, evaluated = self.run(self.model('unnamed', BATCH, True), BATCH, 'cross-entropy', '--batch-dim=x:1')
        model, shape = self.model('named', BATCH, True, batch='batch'), f'--shape=x:{BATCH}x{BATCH}x{FEATURES}'
        got, evaluation = self.run(model, BATCH, 'cross-entropy', shape)
        expect(got == want and evaluation == evaluated, f'losses {got}, not {want}')
        notes = self.suite.tool('dpc-compile', model, shape, '-o', 'named', '--loss=cross-entropy', '--optimizer=sgd,lr=0.3').done().err
        for text in ("dimension 1 ('batch') of input 'x' counts the samples", "samples along dimension 1 of 'x', f32[4, 4, 3]"):
            expect(text in notes, f'the notes lack "{text}": {notes}')

    def asked_for(self):
        """--batch-dim=label:K decides; what cannot be is refused, with both extents."""
        model = self.model('asked', 7, True)
        compiled = [model, '-o', 'asked', '--loss=cross-entropy', '--optimizer=sgd,lr=0.3', '--batch-dim=x:1']
        self.suite.tool('dpc-compile', *compiled, '--batch-dim=label:1').done()
        self.suite.tool('dpc-compile', *compiled, '--batch-dim=label:0').refused(
            'dimension 0 of the labels, of type', "has extent 7, but input 'x' has 4 samples along dimension 1: --batch-dim=x:K or --batch-dim=label:K")
        self.suite.tool('dpc-compile', *compiled, '--batch-dim=label:2').refused('--batch-dim=label:2: the labels have rank 2')
        self.suite.tool('dpc-compile', *compiled, '--batch-dim=label:-1').refused('every sample has a label', code=2)
        self.suite.tool('dpc-compile', *compiled, '--batch-dim=label:1', '--batch-dim=label:0').refused('twice', code=2)
        # As many steps as samples: what is asked for goes before what the graph says.
        square = self.model('square', BATCH, True)
        program = self.suite.compiled('time-major', '--loss=cross-entropy', '--optimizer=sgd,lr=0.3', '--precision=f64',
                                      '--batch-dim=x:1', '--batch-dim=label:0', model=square)
        data = self.data(BATCH, 'cross-entropy')
        self.suite.run(program, f'--data={data}', '--steps=2', '--log=square.jsonl').done()
        own, _ = self.run(square, BATCH, 'cross-entropy', '--batch-dim=x:1')
        expect(self.suite.log('square.jsonl')[0]['loss'] != own[0], 'label:0 changes nothing')

    def hinted(self):
        """Data that fits with the samples in another dimension is answered with --batch-dim; other data is not. The
        extents of --shape may be in the wrong order, too."""
        first, time = (self.model(name, 7, name == 'time') for name in ('first', 'time'))
        flags = ['--loss=cross-entropy', '--optimizer=sgd,lr=0.3']
        rng, hint = np.random.default_rng(7), (
            ' (x of the program is [7, 4, 3] with its samples along dimension 0: compile with --shape=x:4x7x3 if dimension 0 does '
            "count them, or with --batch-dim=x:1 if dimension 1 of the model's input counts samples)")
        for model, shape, samples, needs, remedy in (
                (time, (11, 7, FEATURES), '[7, 3]', '[4, 3]', hint),
                (time, (7, 11, FEATURES), '[11, 3]', '[4, 3]', hint.replace(' --shape=x:4x7x3 if dimension 0 does count them, or with', '')),
                (first, (7, 11, FEATURES), '[11, 3]', '[7, 3]', ' (dimension 1 of the array fits as that of the samples: put it '
                 'first, or compile a model that has them there with dpc-compile --batch-dim=x:1)'),
                (time, (11, 7, 2), '[7, 2]', '[4, 3]', ''), (first, (11, 8, FEATURES), '[8, 3]', '[7, 3]', ''),
                (first, (11, 7), '[7]', '[7, 3]', '')):
            x = rng.standard_normal(shape).astype(np.float32)
            np.savez(self.suite.path('hinted.npz'), x=x, label=np.zeros(shape[:2], np.int64))
            np.save(self.suite.path('hinted.npy'), x)
            words = f'samples have shape {samples}, but x of the program needs {needs}{remedy}\n'
            self.suite.run(self.suite.compiled('time-major', *flags, model=model), '--data=hinted.npz', '--steps=1').refused(
                f'hinted.npz: array "x": {words}')
            self.suite.run(self.suite.compiled('time-major', model=model), '--input=x=hinted.npy', '--output=logits=y.npy').refused(
                f'hinted.npy: {words}')
        # The file calls dimension 1 the batch, and --shape has it first.
        np.savez(self.suite.path('hinted.npz'), x=np.zeros((11, 7, FEATURES), np.float32), label=np.zeros((11, 7), np.int64))
        swapped = self.model('swapped-hint', 7, True, batch='batch')
        program = self.suite.compiled('time-major', *flags, '--shape=x:4x7x3', model=swapped)
        words = ('(x of the program is [4, 7, 3] with its samples along dimension 1: compile with --shape=x:7x4x3 if dimension 1 '
                 'does count them')
        self.suite.run(program, '--data=hinted.npz', '--steps=1').refused(
            f'hinted.npz: array "x": samples have shape [7, 3], but x of the program needs [4, 3] {words}, or with '
            "--batch-dim=x:0 if dimension 0 of the model's input counts samples)\n")
        np.savez(self.suite.path('hinted.npz'), x=np.zeros((7, 11, FEATURES), np.float32), label=np.zeros((7, 11), np.int64))
        self.suite.run(program, '--data=hinted.npz', '--steps=1').refused(
            f'hinted.npz: array "x": samples have shape [11, 3], but x of the program needs [4, 3] {words})\n')

    def as_others(self):
        """A file with as many samples as steps is read as the others of the run are, those of --eval-data too."""
        program = self.suite.compiled('time-major', '--loss=cross-entropy', '--optimizer=sgd,lr=0.3', '--precision=f64',
                                      '--batch-dim=x:1', model=self.model('others', 7, True))
        rng, whole = np.random.default_rng(8), {}
        for count in (7, 11):
            whole[count] = {'x': rng.standard_normal((count, 7, FEATURES)).astype(np.float32), 'label': rng.integers(0, CLASSES, (count, 7))}
            np.savez(self.suite.path(f'first{count}.npz'), **whole[count])
            np.savez(self.suite.path(f'time{count}.npz'), **{key: value.swapaxes(0, 1) for key, value in whole[count].items()})

        def losses(*files):
            run = self.suite.run(program, *files, '--epochs=1', '--no-shuffle', '--log=others.jsonl').done()
            notes = [line for line in run.out.splitlines() if 'would also fit' in line]
            return [[line['loss'], line.get('eval_loss')] for line in self.suite.log('others.jsonl')], notes
        for files in (('--data=KIND11.npz', '--data=KIND7.npz'), ('--data=KIND7.npz', '--eval-data=KIND11.npz'),
                      ('--data=KIND11.npz', '--eval-data=KIND7.npz')):
            got, want = ([*losses(*(file.replace('KIND', kind) for file in files))] for kind in ('time', 'first'))
            expect(got == want and not got[1], f'{files}: {got}, not {want}')
        notes = losses('--data=time7.npz')[1]
        expect(len(notes) == 2 and all('move them to the front of it if they are there' in note for note in notes), f'{notes}')


def checks(suite):
    tests = TimeMajor(suite)
    for steps in (7, BATCH):
        for flags in ((), ('--mesh=data=2',), ('--microbatches=2',), ('--mesh=data=2', '--microbatches=2', '--zero=3')):
            yield (f'daily time-major {steps} steps {" ".join(flags)}',
                   lambda steps=steps, flags=flags: tests.same(steps, 'cross-entropy', *flags))
    for loss in ('mse', 'bce-with-logits'):
        yield f'daily time-major {loss}', lambda loss=loss: tests.same(7, loss, '--mesh=data=2')
    yield 'daily time-major by name', tests.named
    yield 'daily time-major as asked for', tests.asked_for
    yield 'daily time-major as other files', tests.as_others
    yield 'daily time-major hint at --batch-dim', tests.hinted
