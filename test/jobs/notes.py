"""Notes of a line each, where something is allowed and hardly meant."""
import gzip

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from evaluation import several
from programs import data_of, expect


def notes_of(text):
    return [line for line in text.splitlines() if 'note: ' in line]


class Notes:
    def __init__(self, suite):
        self.suite = suite

    def classifier(self, name, classes, *last):
        """x @ w, and nodes behind it."""
        w = np.random.default_rng(2).standard_normal((6, classes)).astype(np.float32)
        names = ['product', *(f'{kind}_out' for kind, _ in last)]
        nodes = [helper.make_node('MatMul', ['x', 'w'], ['product'], name='product')]
        for k, (kind, attributes) in enumerate(last):
            nodes.append(helper.make_node(kind, [names[k]], [names[k + 1]], name=f'last_{kind}', **attributes))
        graph = helper.make_graph(nodes, 'model', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [4, 6])],
                                  [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, [4, classes])],
                                  [numpy_helper.from_array(w, 'w')])
        path = self.suite.path(f'{name}.onnx')
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9), path)
        return path

    def compiled(self, model, loss='cross-entropy'):
        run = self.suite.tool('dpc-compile', model, '-o', 'noted', f'--loss={loss}', '--optimizer=sgd,lr=0.1').done()
        return [line for line in notes_of(run.err) if ': note: loss ' not in line]

    def cross_entropy(self):
        """A softmax along the classes, or one class; not log-softmax, nor along something else, nor another loss."""
        softmax = self.classifier('softmax', 3, ('Softmax', {'axis': -1}))
        want = ["dpc-compile: note: node 'last_Softmax': the output is a softmax, and a cross-entropy takes the softmax of its "
                'logits: export the model without its last softmax']
        expect(self.compiled(softmax) == want, f'{self.compiled(softmax)}, not {want}')
        one = self.compiled(self.classifier('one', 1))
        expect(len(one) == 1 and 'a cross-entropy of one class is always 0: labels that are 0 or 1 go with '
               '--loss=bce-with-logits' in one[0], f'{one}')
        for model, loss in ((self.classifier('plain', 3), 'cross-entropy'), (softmax, 'mse'), (self.classifier('one', 1), 'mse'),
                            (self.classifier('log', 3, ('LogSoftmax', {'axis': -1})), 'cross-entropy'),
                            (self.classifier('batch', 3, ('Softmax', {'axis': 0})), 'cross-entropy')):
            expect(not self.compiled(model, loss), f'{model} {loss}: {self.compiled(model, loss)}')

    def ranks(self):
        """More ranks than samples of a batch."""
        arrays = dict(np.load(data_of('mlp')))
        np.savez(self.suite.path('mlp.npz'), **arrays)

        def notes(*flags, batch=2):
            program = self.suite.compiled('ranks', f'--shape=x:{batch}x16', '--loss=cross-entropy', '--optimizer=sgd,lr=0.1',
                                          *flags, model=data_of('mlp').replace('data.npz', 'model.onnx'))
            return notes_of(self.suite.run(program, '--data=mlp.npz', '--steps=1').done().out)
        want = ['note: 2 of 4 ranks have no samples: a batch has 2']
        expect(notes('--mesh=data=4') == want, f'{notes("--mesh=data=4")}, not {want}')
        want = ['note: 2 of 4 ranks have no samples: a batch, in 2 microbatches, has 4']
        got = notes('--mesh=data=4', '--microbatches=2', batch=4)
        expect(got == want, f'{got}, not {want}')
        want = ['note: 1 of 4 ranks has no samples: a batch has 5, and other ranks take up to 2 each']
        expect(notes('--mesh=data=4', batch=5) == want, f'{notes("--mesh=data=4", batch=5)}, not {want}')
        want = ['note: 1 of 2 ranks has the same samples and parameters as another: a batch has 1']
        expect(notes('--mesh=data=2', batch=1) == want, f'{notes("--mesh=data=2", batch=1)}, not {want}')
        for flags, batch in ((('--mesh=data=2',), 2), (('--mesh=data=2,model=2',), 2), ((), 2), (('--mesh=model=2',), 1),
                             (('--mesh=data=2',), 3), ((), 1)):
            got = notes(*flags, batch=batch)
            expect(not got, f'{flags}, batch {batch}: {got}')

    def bytes_of_images(self):
        """uint8 in a float input, unless it is scaled or has only 0 and 1."""
        program, rng = self.suite.trainer('mlp'), np.random.default_rng(4)
        label = dict(np.load(data_of('mlp')))['label'][:16]

        def notes(x, *more):
            np.savez(self.suite.path('bytes.npz'), x=x, label=label)
            return notes_of(self.suite.run(program, '--data=bytes.npz', '--steps=1', *more).done().out)
        raw = rng.integers(0, 256, (16, 16)).astype(np.uint8)
        want = ['note: bytes.npz: array "x": uint8 is read as 0..255 into input x (f32); --data=idx:..,scale=1/255 scales, other '
                'forms need the file scaled']
        expect(notes(raw) == want, f'{notes(raw)}, not {want}')
        np.savez(self.suite.path('held.npz'), x=raw, label=label)
        held = notes((raw / 255).astype(np.float32), '--eval-data=held.npz')
        expect(held == [want[0].replace('bytes.npz', '--eval-data: held.npz')], f'{held}')
        for x in ((raw > 99).astype(np.uint8), raw.astype(np.float32), raw.astype(np.int32)):
            expect(not notes(x), f'{x.dtype}: {notes(x)}')
        np.save(self.suite.path('bytes.npy'), raw)
        run = self.suite.run(self.suite.compiled('mlp'), '--input=x=bytes.npy', '--output=logits=bytes-out.npy').done()
        expect(len(notes_of(run.out)) == 1 and 'bytes.npy: uint8 is read as 0..255' in run.out, f'inference: {run.out}')
        for name, value in (('images.gz', raw), ('labels.gz', label.astype(np.uint8))):
            head = bytes([0, 0, 8, value.ndim]) + b''.join(int(n).to_bytes(4, 'big') for n in value.shape)
            with gzip.open(self.suite.path(name), 'wb') as file:
                file.write(head + value.tobytes())
        for scale, count in (('', 1), (',scale=1/255', 0), (',mean=128,std=64', 0)):
            run = self.suite.run(program, f'--data=idx:images.gz,labels.gz{scale}', '--steps=1').done()
            expect(len(notes_of(run.out)) == count, f'idx{scale}: {run.out}')

    def singular(self):
        """One sample, one rank or one step is not several."""
        arrays, program = dict(np.load(data_of('mlp'))), self.suite.trainer('mlp')

        def rows(count):
            np.savez(self.suite.path(f'rows{count}.npz'), **{key: value[:count] for key, value in arrays.items()})
            return f'rows{count}.npz'
        run = self.suite.run(program, f'--data={rows(9)}', '--epochs=1').done()
        want = ['note: the last sample of an epoch does not fill a batch and is dropped']
        expect(notes_of(run.out) == want, f'{notes_of(run.out)}, not {want}')
        self.suite.run(program, f'--data={rows(1)}', '--steps=1').refused('rows1.npz: 1 sample, fewer than one batch of 8')
        self.suite.run(program, '--evaluate', '--eval-data=rows1.npz').done().says(', batch 8, 1 sample, planned memory')
        np.savez(self.suite.path('uneven.npz'), x=arrays['x'][:2], label=arrays['label'][:1])
        self.suite.run(program, '--data=uneven.npz', '--steps=1').refused('uneven.npz: array "label" has 1 sample, but ')
        lone = self.suite.compiled('ranks', '--shape=x:2x16', '--loss=cross-entropy', '--optimizer=sgd,lr=0.1', '--mesh=data=3',
                                   model=data_of('mlp').replace('data.npz', 'model.onnx'))
        run = self.suite.run(lone, f'--data={rows(2)}', '--steps=1').done()
        want = ['note: 1 of 3 ranks has no samples: a batch has 2']
        expect(notes_of(run.out) == want, f'{notes_of(run.out)}, not {want}')
        graph = self.suite.compiled('graph', '--loss=output:power', '--optimizer=sgd,lr=0.1',
                                    model=several(self.suite.path('power.onnx'), ['power']))
        run = self.suite.run(graph, '--evaluate', '--eval-data=rows9.npz').done()
        want = ['note: the loss in the graph needs whole batches: the last sample of --eval-data is left out',
                'note: the program has no input for label of the data: it is left out']
        expect(notes_of(run.out) == want, f'{notes_of(run.out)}, not {want}')
        proof = self.suite.tool('dpc-run', '--verify', program).done()
        proof.says('plan of 1 rank: OK, ', ', 0 communications, ')

    def unused(self):
        """Arrays that no input takes, listed once for all files of the run."""
        arrays, program = dict(np.load(data_of('mlp'))), self.suite.trainer('mlp', '--mesh=data=2')
        np.savez(self.suite.path('more.npz'), **arrays, attention_mask=np.ones(80), ids=np.ones(80))
        np.savez(self.suite.path('held.npz'), **arrays, ids=np.ones(80), other=np.ones(3))
        run = self.suite.run(program, '--data=more.npz', '--data=more.npz', '--eval-data=held.npz', '--steps=1').done()
        want = ['note: the program has no input for attention_mask, ids, other of the data: they are left out']
        expect(notes_of(run.out) == want, f'{notes_of(run.out)}, not {want}')
        np.savez(self.suite.path('more.npz'), **arrays, ids=np.ones(80))
        want = ['note: the program has no input for ids of the data: it is left out']
        for options in (['--data=more.npz', '--steps=1'], ['--evaluate', '--eval-data=more.npz']):
            run = self.suite.run(program, *options).done()
            expect(notes_of(run.out) == want, f'{notes_of(run.out)}, not {want}')


def checks(suite):
    tests = Notes(suite)
    yield 'daily note of a softmax or of one class', tests.cross_entropy
    yield 'daily note of ranks without samples', tests.ranks
    yield 'daily note of uint8 images', tests.bytes_of_images
    yield 'daily note of one of something', tests.singular
    yield 'daily note of unused arrays', tests.unused
