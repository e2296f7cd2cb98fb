"""Learning rates of the command line, what the log says of them and of the gradients, the trace, and the best evaluation."""
import json
import math
import os
import re

import numpy as np
import onnx

from programs import data_of, expect, initializers, model_of, read_safetensors

CLIP = 0.3


class Results:
    def __init__(self, suite):
        self.suite = suite

    def losses(self, program, case, log, *arguments):
        self.suite.train(program, case, f'--log={log}', *arguments).done()
        return [(line['loss'], line['learning_rate']) for line in self.suite.log(log)]

    def rate(self, schedule):
        """--lr=X is the program compiled with lr=X: groups are multiples of it, and so is the schedule's end."""
        def trainer(rate, low):
            falls = [f'--lr-schedule={schedule},min-lr={low}'] if schedule else []
            return self.suite.trainer('mlp', '--param-group=fc1.*,lr-scale=0.1', *falls, optimizer=f'adamw,lr={rate}')
        compiled, given = trainer('0.02', '0.004'), trainer('0.01', '0.002')
        want = self.losses(compiled, 'mlp', 'compiled.jsonl', '--steps=6')
        got = self.losses(given, 'mlp', 'given.jsonl', '--steps=6', '--lr=0.02')
        expect(got == want, f'losses and rates {got}, not {want}')
        other = self.losses(given, 'mlp', 'other.jsonl', '--steps=6')
        expect([loss for loss, _ in other][-1] != want[-1][0], 'the rate changes nothing')
        for (_, rate), (_, half) in zip(want, other):
            expect(math.isclose(rate, 2 * half), f'rate {rate} for {half}')

    def effective_rate(self):
        """The log and the progress line have the rate of each step."""
        program = self.suite.trainer('mlp', '--lr-schedule=linear,warmup=2,min-lr=0.001')
        run = self.suite.train(program, 'mlp', '--steps=6', '--log=rates.jsonl').done()
        rates = [line['learning_rate'] for line in self.suite.log('rates.jsonl')]
        want = [0, 0.005, 0.01] + [0.001 + 0.009 * (1 - k / 4) for k in (1, 2, 3)]
        expect(np.allclose(rates, want), f'rates {rates}, not {want}')
        run.says(f'  lr {rates[-1]:.4g}  ')

    def warmup_share(self):
        """warmup=P% is of total=, else of the steps of the run: the same rates as that many steps."""
        for given, steps, want in (('cosine,warmup=25%', 8, 'cosine,warmup=2'), ('cosine,warmup=30%', 8, 'cosine,warmup=3'),
                                   ('linear,warmup=30%,total=10', 8, 'linear,warmup=3,total=10'),
                                   ('constant,warmup=50%', 8, 'constant,warmup=4')):
            rates = [[rate for _, rate in self.losses(self.suite.trainer('mlp', f'--lr-schedule={schedule}'), 'mlp',
                                                      'share.jsonl', f'--steps={steps}')] for schedule in (given, want)]
            expect(rates[0] == rates[1] and len(set(rates[0])) > 3, f'{given}: rates {rates[0]}, not {rates[1]}')
        for given, text in (('cosine,warmup=101%', 'warmup=101% is not a percentage'),
                            ('linear,warmup=100%', 'warmup=100% leaves no step'), ('cosine,min-lr=5%', "min-lr='5%'")):
            self.suite.tool('dpc-compile', model_of('mlp'), '-o', 'no', '--shape=x:8x16', '--loss=cross-entropy',
                            '--optimizer=sgd,lr=0.1', f'--lr-schedule={given}').refused(text)

    def curve_changes(self):
        """A run that goes on for longer than it was to tells what becomes of its schedule, if that depends on it."""
        def note(schedule, first, second, folder, *more):
            program = self.suite.trainer('mlp', *([f'--lr-schedule={schedule}'] if schedule else []), *more)
            self.suite.train(program, 'mlp', f'--steps={first}', f'--checkpoint={folder}').done()
            out = self.suite.train(program, 'mlp', f'--steps={second}', f'--checkpoint={folder}', '--resume').done().out
            return [line for line in out.splitlines() if 'curve' in line]
        want = ['note: the learning rates were those of a run of 4 steps and are now those of one of 6: the curve changes; '
                'a program of --lr-schedule=..,total=4 keeps it']
        for k, schedule in enumerate(('cosine', 'linear,warmup=1', 'constant,warmup=50%')):
            expect(note(schedule, 4, 6, f'curve-{k}') == want, f'{schedule}: no note, or another')
        expect(note('cosine', 4, 6, 'curve-mesh', '--mesh=data=2') == want, 'no note on two ranks')
        for k, schedule in enumerate(('', 'cosine,total=6', 'constant,warmup=2')):
            expect(not note(schedule, 4, 6, f'same-{k}'), f'{schedule}: a note')
        # The same steps as before, as after an interrupt.
        expect(not note('cosine', 4, 4, 'same-steps'), 'a note where nothing changes')

    def usage(self):
        program = self.suite.trainer('mlp')
        for rate in ('0', '-1', 'fast', 'nan', ''):
            self.suite.train(program, 'mlp', '--steps=1', f'--lr={rate}').refused('--lr', code=2)
        self.suite.run(self.suite.compiled('mlp'), '--lr=1', '--output=logits=y.npy').refused('--lr', code=2)

    def gradient_norm(self, mesh, more, clips):
        """With SGD the parameters move by rate times gradient, so the norm can be seen."""
        rate = 0.5
        flags = ['--precision=f64', *([f'--mesh={mesh}'] if mesh else []), *more]
        asked = [f'--clip-grad-norm={CLIP}'] if clips else ['--log-grad-norm']
        program = self.suite.trainer('mlp', *flags, *asked, optimizer=f'sgd,lr={rate}')
        run = self.suite.train(program, 'mlp', '--steps=1', '--log=norm.jsonl', '--save-params=norm.st').done()
        norm = self.suite.log('norm.jsonl')[0]['grad_norm']
        before, after = initializers('mlp'), read_safetensors(self.suite.path('norm.st'))
        moved = math.sqrt(sum(np.sum((after[n] - before[n].astype(float)) ** 2) for n in before)) / rate
        want = min(norm, CLIP) if clips else norm
        expect(abs(moved - want) < 2e-6 * want and norm > CLIP, f'the log has {norm}, the parameters moved by {moved}')
        run.says(f'  grad_norm {norm:.5g}  ')
        if clips:
            return
        # Nothing else changes, and without being asked there is none.
        plain = self.suite.trainer('mlp', *flags, optimizer=f'sgd,lr={rate}')
        self.suite.train(plain, 'mlp', '--steps=1', '--log=plain.jsonl', '--save-params=plain.st').done()
        expect('grad_norm' not in self.suite.log('plain.jsonl')[0], 'a norm was logged')
        for name, value in read_safetensors(self.suite.path('plain.st')).items():
            expect(np.array_equal(value, after[name]), f"'{name}' is another with the norm")

    def trace(self, case):
        """What took time is named after nodes of the file, as are collectives, which belong to gradients of some."""
        program = self.suite.trainer(case, '--mesh=data=2')
        self.suite.train(program, case, '--steps=2', '--trace=trace.json').done()
        known = {node.name for node in onnx.load(model_of(case), load_external_data=False).graph.node}
        seen = set()
        for name in ('trace.json', 'trace.rank1.json'):
            with open(self.suite.path(name)) as file:
                events = [event for event in json.load(file)['traceEvents'] if event['ph'] == 'X']
            for event in events:
                nodes = re.sub(r' and \d+ more$', '', event['args'].get('node', '')).split(', ')
                expect(set(nodes) <= known, f'{event} names what the file has not')
                seen.add(event['cat'])
        expect(seen == {'kernel', 'comm'}, f'the trace has {seen}')

    def worsening(self, metric, folder, *more, steps=12):
        """A run that gets worse at some time; (run, evaluations by step)."""
        program = self.suite.trainer('mlp', optimizer='adam,lr=0.05')
        run = self.suite.train(program, 'mlp', f'--steps={steps}', f'--eval-data={self.held_out()}', '--eval-every=1',
                               f'--best={metric}', f'--log={folder}.jsonl', *more).done()
        found = {line['step']: line[f'eval_{metric}'] for line in self.suite.log(f'{folder}.jsonl')
                 if f'eval_{metric}' in line}
        return run, found

    def held_out(self):
        """Labels that have nothing to do with the training's: learning these makes those worse."""
        path = self.suite.path('held-out.npz')
        arrays = dict(np.load(data_of('mlp')))
        rng = np.random.default_rng(3)
        # A few right labels, so that the loss falls before it rises.
        label = np.where(np.arange(80) < 40, arrays['label'], rng.integers(0, 10, 80))
        np.savez(path, x=arrays['x'], label=label)
        return path

    def best(self, metric):
        """The saved values are those after the best step, and DIR/best can be gone on from."""
        run, found = self.worsening(metric, f'best-{metric}', f'--save-params=best-{metric}.st',
                                    f'--save-onnx=best-{metric}.onnx', f'--checkpoint=best-{metric}')
        pick = min if metric == 'loss' else max
        value = pick(found.values())
        step = min(s for s, v in found.items() if v == value)
        expect(step < max(found), f'the run never gets worse: {found}')
        run.says(f'kept: {metric} ', f'of step {step}\n', ' (best)')
        program = self.suite.trainer('mlp', optimizer='adam,lr=0.05')
        self.suite.train(program, 'mlp', f'--steps={step}', '--save-params=short.st', '--save-onnx=short.onnx').done()
        for kind in ('st', 'onnx'):
            got, want = (open(self.suite.path(f'{name}.{kind}'), 'rb').read() for name in (f'best-{metric}', 'short'))
            expect(got == want, f'the {kind} file is not that of step {step}')
        kept = os.listdir(self.suite.path(f'best-{metric}/best'))
        newest = max(int(name[5:]) for name in kept if name.startswith('step-'))
        expect(newest == step, f'best/step-{newest} is there, not {step}')
        self.suite.train(program, 'mlp', f'--steps={step + 1}', '--resume', f'--checkpoint=best-{metric}/best').done().says(
            f'resumed at step {step}')

    def evaluated_in_part(self):
        """A loss in the graph is of whole batches: what is left of the data is left out, and said. One that dpc builds is exact."""
        arrays = dict(np.load(data_of('llama')))
        program = self.suite.compiled('llama', '--loss=output:loss', '--optimizer=sgd,lr=1e-30')

        def evaluate(program, case, arrays, rows):
            path = self.suite.path(f'{case}-{rows}.npz')
            np.savez(path, **{name: value[:rows] for name, value in arrays.items()})
            return self.suite.train(program, case, '--steps=1', f'--eval-data={path}')

        def loss_of(run):
            return float(re.search(r'eval at step 1: loss (\S+)', run.done().out)[1])
        note = 'note: the loss in the graph needs whole batches: the last {} of --eval-data {} left out\n'
        want = loss_of(evaluate(program, 'llama', arrays, 16))
        for rows, words in ((17, ('sample', 'is')), (23, ('7 samples', 'are'))):
            run = evaluate(program, 'llama', arrays, rows).done().says(note.format(*words))
            expect(loss_of(run) == want, f'{rows} samples: {run.out}')
        evaluate(program, 'llama', arrays, 7).refused('llama-7.npz: 7 samples, but the loss in the graph needs a whole batch of 8')
        arrays, program = dict(np.load(data_of('mlp'))), self.suite.trainer('mlp', optimizer='sgd,lr=1e-30')
        losses = {rows: loss_of(evaluate(program, 'mlp', arrays, rows)) for rows in (3, 8, 11)}
        rest = {name: value[8:11] for name, value in arrays.items()}
        losses['rest'] = loss_of(evaluate(program, 'mlp', rest, 3))
        mean = (8 * losses[8] + 3 * losses['rest']) / 11
        expect(abs(losses[11] - mean) < 1e-5 * mean, f'{losses}')

    def evaluated_without_depth(self):
        """Stochastic depth is not there in evaluation, however a module writes it; any other draw is its mean, and that is said."""
        node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info

        def evaluate(name, nodes, said=0):
            weights = np.random.default_rng(7).standard_normal((16, 10)).astype(np.float32)
            tensors = {'w': weights, 'p': np.float32(0.4), 'full': np.full((8, 1), 0.4, np.float32), 'o': np.float32(0),
                       'one': np.float32(1), 'r': np.float32(0.6), 'more': np.float32(1 / 0.4)}
            graph = onnx.helper.make_graph(
                [node('Tanh', ['x'], ['h']), *nodes, node('MatMul', ['d', 'w'], ['logits'])], name,
                [value('x', onnx.TensorProto.FLOAT, [8, 16])], [value('logits', onnx.TensorProto.FLOAT, [8, 10])],
                [onnx.numpy_helper.from_array(np.asarray(array), key) for key, array in tensors.items()])
            path = self.suite.path(name + '.onnx')
            onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 18)], ir_version=9), path)
            program = self.suite.path(name)
            done = self.suite.tool('dpc-compile', path, '-o', program, '--loss=cross-entropy', '--optimizer=sgd,lr=1e-30').done()
            notes = len(re.findall('evaluation takes (?:the mean|all) of what is drawn here', done.err))
            expect(notes == said, f'{name}: {notes} notes of draws, not {said}: {done.err}')
            run = self.suite.train(program, 'mlp', '--steps=1', f'--eval-data={data_of("mlp")}').done()
            return float(re.search(r'eval at step 1: loss (\S+)', run.out)[1])
        want = evaluate('plain', [node('Identity', ['h'], ['d'])])
        uniform, mask = node('RandomUniform', [], ['u'], shape=[8, 1]), node('Bernoulli', ['full'], ['m'])
        for name, nodes in {
                'floor': [uniform, node('Add', ['p', 'u'], ['s']), node('Floor', ['s'], ['m']), node('Div', ['h', 'p'], ['q']),
                          node('Mul', ['q', 'm'], ['d'])],
                'after': [mask, node('Mul', ['h', 'm'], ['q']), node('Div', ['q', 'p'], ['d'])],
                'before': [mask, node('Div', ['h', 'p'], ['q']), node('Mul', ['m', 'q'], ['d'])],
                'scaled': [mask, node('Div', ['m', 'p'], ['q']), node('Mul', ['h', 'q'], ['d'])],
                'as-like': [uniform, node('CastLike', ['p', 'u'], ['l']), node('Less', ['u', 'l'], ['b']),
                            node('Cast', ['b'], ['m'], to=1), node('Div', ['m', 'p'], ['q']), node('Mul', ['h', 'q'], ['d'])],
                'chosen': [uniform, node('Greater', ['u', 'r'], ['b']), node('Div', ['h', 'p'], ['q']),
                           node('Where', ['b', 'q', 'o'], ['d'])],
                'filled': [uniform, node('Less', ['u', 'r'], ['b']), node('Where', ['b', 'o', 'h'], ['q']),
                           node('Mul', ['q', 'more'], ['d'])],
                'numbers': [uniform, node('Less', ['u', 'p'], ['b']), node('Where', ['b', 'more', 'o'], ['m']),
                            node('Mul', ['m', 'h'], ['d'])],
                'not': [uniform, node('Less', ['u', 'r'], ['b']), node('Not', ['b'], ['c']), node('Cast', ['c'], ['m'], to=1),
                        node('Mul', ['h', 'm'], ['q']), node('Div', ['q', 'p'], ['d'])],
                'rest': [uniform, node('Less', ['u', 'r'], ['b']), node('Cast', ['b'], ['c'], to=1), node('Sub', ['one', 'c'], ['m']),
                         node('Mul', ['h', 'm'], ['q']), node('Mul', ['q', 'more'], ['d'])]}.items():
            got = evaluate(name, nodes)
            expect(abs(got - want) < 1e-5 * want, f'{name}: {got}, without depth {want}')
        got = evaluate('noisy', [node('RandomNormalLike', ['h'], ['n']), node('Add', ['h', 'n'], ['d'])], said=1)
        expect(abs(got - want) < 1e-5 * want, f'with noise {got}, without {want}')
        # Without the scale, and read twice.
        drops = [uniform, node('Less', ['u', 'r'], ['b']), node('Cast', ['b'], ['m'], to=1)]
        got = evaluate('unscaled', [*drops, node('Mul', ['h', 'm'], ['d'])], said=1)
        expect(abs(got - want) < 1e-5 * want, f'unscaled {got}, without depth {want}')
        got = evaluate('twice', [*drops, node('Sub', ['one', 'm'], ['n']), node('Mul', ['h', 'n'], ['q']),
                                 node('Mul', ['h', 'm'], ['s']), node('Add', ['q', 's'], ['d'])], said=1)
        expect(abs(got - want) < 1e-5 * want, f'a choice between x and x {got}, x {want}')

    def best_of_equals(self):
        """Of evaluations that are as good the first is kept."""
        program = self.suite.trainer('mlp', optimizer='sgd,lr=1e-30')
        for metric in ('loss', 'accuracy'):
            self.suite.train(program, 'mlp', '--steps=3', f'--eval-data={self.held_out()}', '--eval-every=1',
                             f'--best={metric}', '--save-params=equals.st').done().says('of step 1\n')

    def best_resumed(self):
        """A run that is resumed knows what was best."""
        _, found = self.worsening('loss', 'resumed', '--checkpoint=resumed')
        step = min(found, key=found.get)
        run, later = self.worsening('loss', 'resumed', '--checkpoint=resumed', '--resume', '--save-params=resumed.st',
                                    '--lr=0.5', steps=14)
        expect(min(v for s, v in later.items() if s > 12) > found[step], 'the later steps are better')
        run.says('note: nothing is written: no evaluation of this run was better than '
                 f'loss {found[step]:.6g} of step {step}')
        expect(not os.path.exists(self.suite.path('resumed.st')), 'a worse one was saved')
        program = self.suite.trainer('mlp', optimizer='adam,lr=0.05')
        again = ['--steps=20', f'--eval-data={self.held_out()}', '--eval-every=1', '--checkpoint=resumed', '--resume']
        self.suite.train(program, 'mlp', *again, '--best=accuracy').refused('best.json is of --best=loss')
        with open(self.suite.path('resumed/best/best.json'), 'w') as file:
            file.write('{}')
        self.suite.train(program, 'mlp', *again, '--best=loss').refused('best.json', 'remove it')

    def best_usage(self):
        program = self.suite.trainer('mlp')
        held_out = f'--eval-data={self.held_out()}'
        enough = ['--steps=1', held_out, '--eval-every=1', '--save-params=p']
        self.suite.train(program, 'mlp', *enough, '--best=count').refused(
            '--best=count: evaluation has no such metric, but: loss, accuracy')
        self.suite.train(program, 'mlp', '--steps=1', '--best=loss', '--save-params=p').refused('--eval-every', code=2)
        self.suite.train(program, 'mlp', '--steps=1', '--best=loss', held_out, '--eval-every=1').refused(
            'somewhere to keep', code=2)
        os.makedirs(self.suite.path('old/best/step-4'))
        self.suite.train(program, 'mlp', *enough, '--best=loss', '--checkpoint=old').refused('old/best already holds')


def checks(suite):
    tests = Results(suite)
    for schedule in ('', 'cosine,warmup=2', 'linear,total=5'):
        yield f'learning rate {schedule or "constant"}', lambda schedule=schedule: tests.rate(schedule)
    yield 'learning rate in the log', tests.effective_rate
    yield 'daily learning rate warm-up in percent', tests.warmup_share
    yield 'daily learning rate of a longer run', tests.curve_changes
    yield 'learning rate usage', tests.usage
    for mesh, more in (('', []), ('data=2', []), ('model=2', []), ('data=2', ['--accumulate=2'])):
        for clips in (False, True):
            name = f'gradient norm {mesh or "one rank"} {"".join(more)}{" clipped" if clips else ""}'
            yield name, lambda a=(mesh, more, clips): tests.gradient_norm(*a)
    for case in ('mlp', 'gpt2'):
        yield f'trace {case}', lambda case=case: tests.trace(case)
    for metric in ('loss', 'accuracy'):
        yield f'best {metric}', lambda metric=metric: tests.best(metric)
    yield 'evaluation of part of a batch', tests.evaluated_in_part
    yield 'evaluation without stochastic depth', tests.evaluated_without_depth
    yield 'best of equals', tests.best_of_equals
    yield 'best of a resumed run', tests.best_resumed
    yield 'best usage', tests.best_usage
