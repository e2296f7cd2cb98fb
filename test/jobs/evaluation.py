"""What evaluation says: in the log, by itself (--evaluate), of which output, by which metrics, and when it ends a run."""
import math
import os
import re
import time

import numpy as np
import onnx

from programs import data_of, expect


CLASSES = 10


def several(path, outputs, batch=8):
    """A model with several outputs: hidden values, logits of classes, the mean square of each sample's, and of all."""
    node, rng = onnx.helper.make_node, np.random.default_rng(11)
    shapes = {'hidden': [batch, 12], 'logits': [batch, CLASSES], 'energy': [batch], 'energies': [batch, 1], 'power': [],
              'ids': [batch]}
    tensors = {'w': rng.standard_normal((16, 12)).astype(np.float32) / 4,
               'v': rng.standard_normal((12, CLASSES)).astype(np.float32)}
    nodes = [node('MatMul', ['x', 'w'], ['m']), node('Tanh', ['m'], ['hidden']), node('MatMul', ['hidden', 'v'], ['logits']),
             node('Mul', ['hidden', 'hidden'], ['s']), node('ReduceMean', ['s'], ['energy'], axes=[1], keepdims=0),
             node('ReduceMean', ['s'], ['energies'], axes=[1], keepdims=1), node('ReduceMean', ['s'], ['power'], keepdims=0),
             node('ArgMax', ['logits'], ['ids'], axis=1, keepdims=0)]
    types = {name: onnx.TensorProto.INT64 if name == 'ids' else onnx.TensorProto.FLOAT for name in shapes}
    graph = onnx.helper.make_graph(
        nodes, 'several', [onnx.helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [batch, 16])],
        [onnx.helper.make_tensor_value_info(name, types[name], shapes[name]) for name in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in tensors.items()])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)], ir_version=8), path)
    return path


class Evaluation:
    def __init__(self, suite):
        self.suite = suite

    def several(self, *outputs):
        path = self.suite.path('-'.join(outputs) + '.onnx')
        return path if os.path.exists(path) else several(path, outputs)

    def evaluated(self, run):
        """The values of each evaluation that was printed, by step."""
        return {int(step): {name: float(value) for name, value in re.findall(r'(\S+) (\S+)', rest)}
                for step, rest in re.findall(r'eval at step (\d+):((?: \S+ [-\d.enaif+]+)+)', run.out)}

    def log(self):
        """Each line has the epoch and the time, and the last evaluation is in the last line."""
        program = self.suite.trainer('mlp')
        rows = len(np.load(data_of('mlp'))['label'])
        begin = time.time()
        run = self.suite.train(program, 'mlp', '--steps=12', f'--eval-data={data_of("mlp")}', '--eval-every=5',
                               '--log=epochs.jsonl').done()
        lines, end = self.suite.log('epochs.jsonl'), time.time()
        expect([line['step'] for line in lines] == list(range(1, 13)), f'steps {lines}')
        for line in lines:
            expect(math.isclose(line['epoch'], line['step'] * 8 / rows, rel_tol=1e-8), f'epoch of {line}')
        times = [line['time'] for line in lines]
        expect(begin - 0.01 <= times[0] and times == sorted(times) and times[-1] <= end + 0.01, f'times {times}')
        printed = self.evaluated(run)
        expect(sorted(printed) == [5, 10, 12], f'evaluations {printed}')
        for line in lines:
            found = {key[5:]: float(f'{value:.6g}') for key, value in line.items() if key.startswith('eval_')}
            expect(found == printed.get(line['step'], {}), f'{line} for {printed}')
        # A run that has no step left says what it evaluates in a line of its own, which keeps the others.
        self.suite.train(program, 'mlp', '--steps=12', '--checkpoint=epochs', '--log=epochs.jsonl').done()
        before = self.suite.log('epochs.jsonl')
        self.suite.train(program, 'mlp', '--steps=12', '--checkpoint=epochs', '--resume', '--log=epochs.jsonl',
                         f'--eval-data={data_of("mlp")}').done()
        *kept, last = self.suite.log('epochs.jsonl')
        expect(kept == before and 'loss' not in last, f'{last} after {kept[-1]}')
        for key in ('step', 'epoch', 'eval_loss', 'eval_accuracy'):
            expect(last[key] == lines[-1][key], f'{key}: {last}, not {lines[-1]}')

    def log_keeps_checkpoint(self):
        """An evaluation that fails at the end leaves the log's line and the checkpoint of the last step."""
        program = self.suite.trainer('mlp')
        run = self.suite.train(program, 'mlp', '--steps=4', f'--eval-data={data_of("mlp")}', '--eval-every=100', '--best=loss',
                               '--save-params=/dev/full', '--checkpoint=failed', '--log=failed.jsonl')
        expect(run.code == 5, f'exit {run.code}: {run.err}')
        expect(os.path.exists(self.suite.path('failed/step-4')), 'no checkpoint')
        expect([line['step'] for line in self.suite.log('failed.jsonl')] == [1, 2, 3, 4], 'a step is not in the log')

    def alone(self, mesh):
        """--evaluate prints and logs what an evaluation in training does, of the same parameters, and writes nothing else."""
        flags = mesh.split()
        program, folder = self.suite.trainer('mlp', *flags), 'alone' + re.sub(r'\W', '', mesh)
        held_out = self.suite.path(f'{folder}.npz')
        np.savez(held_out, **{name: array[:37] for name, array in np.load(data_of('mlp')).items()})
        trained = self.suite.train(program, 'mlp', '--steps=7', f'--eval-data={held_out}', f'--checkpoint={folder}',
                                   f'--save-params={folder}.st', f'--log={folder}.jsonl').done()
        want = {key: value for key, value in self.suite.log(f'{folder}.jsonl')[-1].items() if key.startswith('eval_')}
        before = self.suite.listing()
        for source, step in (([f'--init-params={folder}.st'], 0), ([f'--init-params={folder}/step-7'], 0),
                             ([f'--checkpoint={folder}', '--resume'], 7), ([f'--checkpoint={folder}', '--resume', '--seed=3'], 7)):
            kept = self.suite.log(f'{folder}.jsonl')
            run = self.suite.run(program, '--evaluate', f'--eval-data={held_out}', *source, f'--log={folder}.jsonl').done()
            line = f'eval at step {step}:'
            expect(re.findall(f'{line}(.*)', run.out) == re.findall('eval at step 7:(.*)', trained.out), f'{run.out} after {trained.out}')
            *lines, last = self.suite.log(f'{folder}.jsonl')
            expect(lines == kept and last.pop('time') > 0 and last == {'step': step, **want}, f'{last}, not {want}')
        after = self.suite.listing()
        after.pop(self.suite.path(f'{folder}.jsonl')), before.pop(self.suite.path(f'{folder}.jsonl'))
        expect(after == before, f'{sorted(set(after) ^ set(before))} changed')
        # Another batch than that of the run that wrote the checkpoint.
        other = self.suite.compiled('mlp', '--shape=x:16x16', '--loss=cross-entropy', '--optimizer=adam,lr=0.01', shapes=[])
        run = self.suite.run(other, '--evaluate', f'--eval-data={held_out}', f'--checkpoint={folder}', '--resume').done()
        for name, value in self.evaluated(run)[7].items():
            expect(math.isclose(value, want['eval_' + name], rel_tol=1e-5), f'{name} {value} of other batches, not {want}')

    def alone_usage(self):
        program, data = self.suite.trainer('mlp'), data_of('mlp')
        before = self.suite.listing()

        for option in ('--data=x.npz', '--steps=3', '--epochs=2', '--eval-every=4', '--checkpoint-every=2', '--save-params=p',
                       '--save-onnx=o', '--best=loss', '--lr=1', '--nan=warn', '--no-shuffle', '--nan=stop', '--check-state=3', '--check-gradients'):
            run = self.suite.run(program, '--evaluate', f'--eval-data={data}', option)
            run.refused(f'--evaluate excludes {option.split("=")[0]}:', code=2)
        self.suite.run(program, '--evaluate').refused('--evaluate needs --eval-data', code=2)
        self.suite.run(program, '--evaluate', f'--eval-data={data}', '--checkpoint=none').refused('needs --resume', code=2)
        self.suite.run(program, '--evaluate', f'--eval-data={data}', '--checkpoint=none', '--resume').refused(
            'none holds no checkpoint to evaluate')
        self.suite.run(self.suite.compiled('mlp'), '--evaluate', f'--eval-data={data}').refused('--evaluate', code=2)
        unset = self.suite.compiled('mlp', '--loss=cross-entropy', '--optimizer=sgd,lr=1', '--params=none')
        self.suite.run(unset, '--evaluate', f'--eval-data={data}').refused('--init-params or --resume')
        changed = set(self.suite.listing()) - set(before) - set(self.suite.made.values())
        expect(not changed, f'{changed} were written')

    def loss_of(self, kind):
        """A loss of another output than the first is the loss of that output."""
        data, labels = self.suite.path(f'{kind}.npz'), np.load(data_of('mlp'))['label']
        if kind != 'cross-entropy':
            labels = np.eye(CLASSES, dtype=np.float32)[labels]
        np.savez(data, x=np.load(data_of('mlp'))['x'], label=labels)
        found = []
        for outputs, loss in ((['logits', 'hidden'], kind), (['hidden', 'logits'], f'{kind},of=logits')):
            program = self.suite.compiled('several', f'--loss={loss}', '--optimizer=adam,lr=0.01', model=self.several(*outputs))
            self.suite.train(program, 'mlp', '--steps=4', '--log=of.jsonl', data=data).done()
            found.append([line['loss'] for line in self.suite.log('of.jsonl')])
        expect(found[0] == found[1] and found[0][3] < found[0][0], f'losses {found}')

    def loss_of_usage(self):
        model = self.several('hidden', 'logits', 'ids', 'power')

        def refused(loss, *words, code=1):
            self.suite.tool('dpc-compile', model, '-o', 'refused', f'--loss={loss}', '--optimizer=sgd,lr=1').refused(*words, code=code)
        refused('mse,of=absent', 'loss mse,of=absent: the graph has no such output; it has hidden, logits, ids, power')
        refused('mse,of=ids', 'output ids has type', 'not a float')
        refused('output:power,of=logits', "output:power has no option 'of'", code=2)
        refused('mse,of=', 'of= names no output', code=2)
        refused('mse,of=logits,of=hidden', 'of=hidden: the loss is of one output', code=2)
        expect(not os.path.exists(self.suite.path('refused')), 'a program was written')

    METRICS = {'cross-entropy': 'top-5,perplexity,output:energy,output:energies,output:power,output:hidden,output:ids',
               'bce-with-logits': 'binary-accuracy,output:energies', 'output:power': 'output:energy,output:power'}

    def want(self, kind, x, label, batch=8):
        """What evaluation says of these samples, in f64; one number of a batch is a mean over whole batches."""
        rng = np.random.default_rng(11)
        w, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((16, 12), (12, CLASSES)))
        hidden = np.tanh(x.astype(float) @ (w / 4).astype(float))
        logits, energy = hidden @ v, (hidden ** 2).mean(1)
        whole = len(x) // batch * batch
        found = {'output:energy': energy.mean(), 'output:energies': energy.mean(), 'output:power': energy[:whole].mean(),
                 'output:hidden': hidden.mean(), 'output:ids': logits.argmax(1).mean()}
        if kind == 'output:power':
            return {'loss': found['output:power'], 'output:power': found['output:power'], 'output:energy': energy[:whole].mean()}
        if kind == 'bce-with-logits':
            losses = np.logaddexp(0, logits) - logits * label
            return {'loss': losses.mean(), 'count': label.size, 'binary_accuracy': ((logits > 0) == (label > 0.5)).mean(),
                    'output:energies': found['output:energies']}
        counts = label != -100
        entropy = np.log(np.exp(logits).sum(1)) - logits[np.arange(len(x)), np.where(counts, label, 0)]
        order = np.argsort(-logits, axis=1, kind='stable')
        found.update(loss=entropy[counts].mean(), count=counts.sum(), accuracy=(order[:, 0] == label)[counts].mean(),
                     top_5=(order[:, :5] == label[:, None]).any(1)[counts].mean(), perplexity=np.exp(entropy[counts].mean()))
        return found

    def held_out(self, kind, rows):
        """Inputs and labels of which some do not count, a whole batch of them too."""
        rng = np.random.default_rng(5)
        x = rng.standard_normal((rows, 16)).astype(np.float32)
        label = rng.integers(0, CLASSES, rows)
        label[rng.random(rows) < 0.2] = -100
        label[8:16] = -100
        label = {'cross-entropy': label, 'output:power': None,
                 'bce-with-logits': (rng.random((rows, CLASSES)) < 0.3).astype(np.float32)}[kind]
        path = self.suite.path(f'{kind.replace(":", "-")}-{rows}.npz')
        np.savez(path, x=x, **({} if label is None else {'label': label}))
        return path, x, label

    def metric(self, kind, flags):
        """Every metric is the exact mean over all samples, whatever the layout; padding rows and ignored labels do not count."""
        outputs = ['hidden', 'logits', 'energy', 'energies', 'power', 'ids']
        loss = kind if kind.startswith('output:') else f'{kind},of=logits'
        program = self.suite.compiled('several', f'--loss={loss}', '--optimizer=sgd,lr=0.1', f'--metric={self.METRICS[kind]}',
                                      *flags.split(), model=self.several(*outputs))
        data, x, label = self.held_out(kind, 37)
        run = self.suite.run(program, '--evaluate', f'--eval-data={data}', '--log=metrics.jsonl').done()
        last = self.suite.log('metrics.jsonl')[-1]
        got = {key[5:]: value for key, value in last.items() if key.startswith('eval_')}
        want = self.want(kind, x, label)
        expect(sorted(got) == sorted(want), f'metrics {sorted(got)}, not {sorted(want)}')
        close = 1e-12 if 'f64' in flags else 2e-2 if 'bf16' in flags else 2e-6
        for name, value in want.items():
            expect(math.isclose(got[name], value, rel_tol=close, abs_tol=close), f'{name} is {got[name]}, not {value}')
        expect(self.evaluated(run)[0] == {name: float(f'{value:.6g}') for name, value in got.items()}, f'printed {run.out}')
        whole = 'the loss in the graph' if kind == 'output:power' else 'output:power'
        if 'output:power' in self.METRICS[kind]:
            run.says(f'note: {whole} needs whole batches: the last 5 samples of --eval-data are left out')
            small, _, _ = self.held_out(kind, 7)
            self.suite.run(program, '--evaluate', f'--eval-data={small}').refused(
                f'7 samples, but {whole} needs a whole batch of 8')

    def metric_smoothed(self):
        """Perplexity is of the cross-entropy without smoothing."""
        data, x, label = self.held_out('cross-entropy', 37)
        for loss in ('cross-entropy,of=logits,label-smoothing=0.2', 'cross-entropy,of=logits'):
            program = self.suite.compiled('several', f'--loss={loss}', '--optimizer=sgd,lr=0.1', '--metric=perplexity',
                                          model=self.several('hidden', 'logits'))
            values = self.evaluated(self.suite.run(program, '--evaluate', f'--eval-data={data}').done())[0]
            want = self.want('cross-entropy', x, label)
            expect(math.isclose(values['perplexity'], want['perplexity'], rel_tol=1e-5), f'{loss}: {values}, not {want}')

    def metric_ties(self):
        """Of equal logits the one of the lower index comes first; a logit that is no number is infinite."""
        path, data, rng = self.suite.path('ties.onnx'), self.suite.path('ties.npz'), np.random.default_rng(2)
        node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [node('Add', ['x', 'b'], ['logits'])], 'ties', [value('x', onnx.TensorProto.FLOAT, [8, 9])],
            [value('logits', onnx.TensorProto.FLOAT, [8, 9])], [onnx.numpy_helper.from_array(np.zeros(9, np.float32), 'b')])
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)], ir_version=8), path)
        x, label = rng.integers(0, 3, (203, 9)).astype(np.float32), rng.integers(0, 9, 203)
        x[::5, 3], x[1::5, 8], x[2::5, 2] = np.nan, np.inf, -np.inf
        np.savez(data, x=x, label=label)
        order = np.argsort(-np.where(np.isnan(x), np.inf, x), axis=1, kind='stable')
        want = (order[:, :5] == label[:, None]).any(1).mean()
        for flags in ('', '--mesh=model=2', '--mesh=data=2'):
            program = self.suite.compiled('ties', '--loss=cross-entropy', '--optimizer=sgd,lr=0.1', '--metric=top-5', '--trainable=b',
                                          *flags.split(), model=path)
            values = self.evaluated(self.suite.run(program, '--evaluate', f'--eval-data={data}').done())[0]
            expect(math.isclose(values['top_5'], want, rel_tol=1e-5), f'{values}, not {want}')

    def metric_usage(self):
        model = self.several('hidden', 'logits', 'energy', 'power')

        def refused(loss, metric, *words, code=2, model=model):
            self.suite.tool('dpc-compile', model, '-o', 'refused', *([f'--loss={loss}', '--optimizer=sgd,lr=1'] if loss else []),
                            f'--metric={metric}').refused(*words, code=code)
        known = 'known: accuracy, top-5, binary-accuracy, perplexity, output:NAME'
        refused('cross-entropy', 'bleu', f"--metric: unknown metric 'bleu'; {known}")
        refused('cross-entropy', 'top-5,', "unknown metric ''")
        refused('mse', 'accuracy', 'accuracy needs a loss that has classes, --loss=cross-entropy, not --loss=mse')
        refused('output:power', 'perplexity', 'perplexity needs', 'not --loss=output:power')
        refused('cross-entropy', 'binary-accuracy', 'binary-accuracy needs', '--loss=bce-with-logits, not --loss=cross-entropy')
        refused('cross-entropy', 'top-5,top-5', "'top-5' is given twice")
        refused('', 'accuracy', '--metric needs --loss')
        refused('cross-entropy', 'output:absent', 'metric output:absent: the graph has no such output; it has hidden, logits, energy, power',
                code=1)
        few = self.suite.path('few.onnx')
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node('MatMul', ['x', 'w'], ['y'])], 'few', [value('x', onnx.TensorProto.FLOAT, [8, 4])],
            [value('y', onnx.TensorProto.FLOAT, [8, 5]), value('w', onnx.TensorProto.FLOAT, [4, 5])],
            [onnx.numpy_helper.from_array(np.ones((4, 5), np.float32), 'w')])
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)], ir_version=8), few)
        refused('cross-entropy', 'top-5', 'metric top-5 needs at least 6 classes, but output y has 5 along axis 1', code=1, model=few)
        refused('cross-entropy', 'output:w', 'output has type', 'neither one number nor has a sample in each row of a batch of 8',
                code=1, model=few)
        expect(not os.path.exists(self.suite.path('refused')), 'a program was written')

    def noisy(self):
        """Labels that the inputs say little of: what is learned gets worse elsewhere."""
        paths, rng = [], np.random.default_rng(8)
        for name in ('noisy', 'unseen'):
            paths.append(self.suite.path(name + '.npz'))
            x = rng.standard_normal((40, 16)).astype(np.float32)
            np.savez(paths[-1], x=x, label=np.where(rng.random(40) < 0.5, np.digitize(x[:, 0], (-1, 0, 1)), rng.integers(0, CLASSES, 40)))
        return paths

    def overfitting(self, best, *arguments, flags=()):
        """A run that gets worse at some time, with metrics of every kind."""
        data, unseen = self.noisy()
        program = self.suite.compiled('several', '--loss=cross-entropy,of=logits', '--optimizer=adam,lr=0.05',
                                      '--metric=top-5,perplexity,output:energy,output:power', *flags,
                                      model=self.several('hidden', 'logits', 'energy', 'power'))
        return self.suite.train(program, 'several', f'--eval-data={unseen}', *([f'--best={best}'] if best else []), *arguments, data=data)

    def evaluations(self, log, metric):
        return {line['step']: line['eval_' + metric] for line in self.suite.log(log) if 'eval_' + metric in line}

    def best(self, best, key, pick):
        """--best takes each metric in its direction."""
        name = re.sub(r'\W', '', best)
        run = self.overfitting(best, '--steps=24', '--eval-every=2', f'--save-params={name}.st', f'--log={name}.jsonl').done()
        found = self.evaluations(f'{name}.jsonl', key)
        step = next(s for s, v in found.items() if v == pick(found.values()))
        run.says(f'kept: {key} {found[step]:.6g} of step {step}\n')
        expect(len(set(found.values())) > 1, f'nothing to choose from: {found}')
        self.overfitting('', f'--steps={step}', f'--save-params={name}-short.st').done()
        got, want = (open(self.suite.path(f'{name}{more}.st'), 'rb').read() for more in ('', '-short'))
        expect(got == want, f'the file is not that of step {step}')

    def patience(self):
        """A run stops after N evaluations without a better one; a resumed one goes on with the count."""
        ends = [60]
        for name in ('at-once', 'in-parts'):
            full = ['--eval-every=2', '--patience=3', f'--checkpoint={name}', f'--log={name}.jsonl', f'--save-params={name}.st']
            for number, steps in enumerate(ends):
                run = self.overfitting('loss', f'--steps={steps}', *full, *(['--resume'] if number else [])).done()
            found = self.evaluations(f'{name}.jsonl', 'loss')
            step, stop = min(found, key=found.get), max(found)
            expect(stop == step + 6 and stop < 60, f'{name} stopped at {stop}, the best was {step}: {found}')
            run.says(f'stopped at step {stop} of 60: 3 evaluations without a better loss than {found[step]:.6g} of step {step} '
                     '(--patience=3)\n', f'of step {step}\n')
            expect(run.out.count('stopped at') == 1, run.out)
            lines = self.suite.log(f'{name}.jsonl')
            expect([line['step'] for line in lines] == list(range(1, stop + 1)), f'{name}: the log has not each step once')
            for folder in (f'{name}/step-{stop}', f'{name}/best/step-{step}'):
                expect(os.path.isdir(self.suite.path(folder)), f'{folder} is not there')
            ends = [step + 3, 60]  # the first part ends between two evaluations after the best
        one, other = (open(self.suite.path(f'{name}.st'), 'rb').read() for name in ('at-once', 'in-parts'))
        expect(one == other, 'the run in parts kept something else')
        self.overfitting('loss', '--steps=60', '--eval-every=2', '--patience=3', flags=['--mesh=data=2', '--zero=3']).done().says(
            f'stopped at step {stop} of 60: 3 evaluations')
        # Out of patience already: nothing is trained. With more patience it goes on, and with other steps the count begins anew.
        before = self.suite.listing()
        full = ['--steps=60', '--eval-every=2', '--checkpoint=at-once', '--resume']
        self.overfitting('loss', *full, '--patience=3').done().says(f'stopped at step {stop} of 60: 3 evaluations')
        expect(self.suite.listing() == before, 'a run without a step wrote something')
        self.overfitting('loss', *full, '--patience=4').done().says(f'stopped at step {stop + 2} of 60: 4 evaluations')
        self.overfitting('loss', '--steps=60', '--eval-every=1', '--checkpoint=at-once', '--resume', '--patience=3').done().says(
            f'stopped at step {stop + 5} of 60: 3 evaluations')

    def patience_alone(self):
        """Without files --best says what is better; a metric that is never finite is never better."""
        run = self.overfitting('perplexity', '--steps=60', '--eval-every=2', '--patience=2').done().says('stopped at step ', '\nbest: perplexity ')
        expect('kept' not in run.out, run.out)
        run = self.overfitting('loss', '--steps=60', '--eval-every=3', '--patience=2', '--nan=warn', '--lr=1e38').done()
        run.says('stopped at step 6 of 60: 2 evaluations without a finite loss (--patience=2)\n', 'best: no finite loss\n')

    def best_usage(self):
        def refused(*arguments, code=2):
            words = arguments[-1]
            self.overfitting('', '--steps=4', '--eval-every=2', *arguments[:-1]).refused(words, code=code)
        refused('--patience=2', '--patience needs --best=METRIC')
        refused('--best=loss', '--patience=0', '--patience must be at least 1')
        refused('--best=loss', '--patience=x', '--patience')
        refused('--best=loss,max', '--save-params=p', '--best=loss,max: only output:NAME takes ,max')
        refused('--best=accuracy,min', '--save-params=p', 'only output:NAME takes ,min')
        refused('--best=output:hidden', '--save-params=p', 'but: loss, accuracy, top-5, perplexity, output:energy, output:power '
                '(others are in programs of dpc-compile --metric)', code=1)
        refused('--best=output:energy,more', '--save-params=p', '--best=output:energy,more: evaluation has no such metric', code=1)
        full = ['--steps=4', '--eval-every=2', '--checkpoint=direction']
        self.overfitting('output:energy,max', *full).done()
        full[0] = '--steps=6'
        self.overfitting('output:energy', *full, '--resume').refused('is of --best=output:energy,max, this run has --best=output:energy')
        self.overfitting('output:energy,max', *full, '--resume').done()


def checks(suite):
    tests = Evaluation(suite)
    yield 'daily log', tests.log
    yield 'daily log of a failed evaluation', tests.log_keeps_checkpoint
    for mesh in ('', '--mesh=data=2 --zero=3', '--mesh=model=2 --accumulate=2'):
        yield f'daily evaluation alone {mesh or "one rank"}', lambda mesh=mesh: tests.alone(mesh)
    yield 'daily evaluation alone usage', tests.alone_usage
    for kind in ('cross-entropy', 'mse', 'l1', 'bce-with-logits'):
        yield f'daily {kind} of an output', lambda kind=kind: tests.loss_of(kind)
    yield 'daily loss of an output usage', tests.loss_of_usage
    for kind in Evaluation.METRICS:
        for flags in ('', '--mesh=data=2', '--mesh=data=4 --zero=3', '--mesh=model=2', '--microbatches=4',
                      '--mesh=data=2,model=2 --microbatches=2 --zero=2 --precision=f64', '--mesh=data=2 --precision=bf16'):
            yield f'daily metrics of {kind} {flags or "one rank"}', lambda a=(kind, flags): tests.metric(*a)
    yield 'daily metrics of smoothed labels', tests.metric_smoothed
    yield 'daily metrics of ties', tests.metric_ties
    yield 'daily metrics usage', tests.metric_usage
    for best, key, pick in (('loss', 'loss', min), ('accuracy', 'accuracy', max), ('top-5', 'top_5', max), ('top_5', 'top_5', max),
                            ('perplexity', 'perplexity', min), ('output:energy', 'output:energy', min),
                            ('output:power,min', 'output:power', min), ('output:energy,max', 'output:energy', max)):
        yield f'daily best {best}', lambda a=(best, key, pick): tests.best(*a)
    yield 'daily patience', tests.patience
    yield 'daily patience alone', tests.patience_alone
    yield 'daily best usage', tests.best_usage
