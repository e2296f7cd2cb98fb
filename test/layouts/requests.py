#!/usr/bin/env python3
"""Layouts that are asked for: of parameters, inputs and values, by --shard or by an ONNX file's sharding specs.

  test/layouts/requests.py [-k WORD] [-v]    tools: $DPC_BIN, or build/release/bin

Looks at what the compiler decides (level placed), and trains small models of test/models with requests: losses and
state are those of one rank to 1e-10, in f64. Needs python3 with numpy and onnx. The last line printed is
`N passed, N failed`; test/layouts/run runs these tests with its own.
"""
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('interp', os.path.join(HERE, '..', 'interp', 'run'))
interp = importlib.util.module_from_spec(importlib.util.spec_from_loader('interp', loader))
loader.exec_module(interp)
import numpy as np
import onnx

TOLERANCE = 1e-10
LOSS = ['--loss=cross-entropy', '--optimizer=sgd']
MEGATRON = ['*c_attn.weight=-,model', '*c_fc.weight=-,model', '*attn.c_proj.weight=model,-', '*mlp.c_proj.weight=model,-',
            '*lm_head.weight=model,-']


class Failed(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failed(text)


def requests(*texts):
    return ['--shard=' + text for text in texts]


class Requests:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        for name in ('gpt2', 'llama'):
            shutil.copy(os.path.join(HERE, 'models', name + '.onnx'), folder)
        with open(os.path.join(folder, 'weights.bin'), 'wb') as weights:
            weights.truncate(400 << 20)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *command):
        return subprocess.run([os.path.join(self.tools, command[0]), *command[1:]], capture_output=True, text=True,
                              timeout=300)

    def tool(self, *command):
        done = self.run(*command)
        expect(done.returncode == 0, f'{command[0]} exits {done.returncode}: {done.stderr.strip()[-500:]}')
        return done

    def place(self, model, *flags):
        """(layouts by the name of the argument, lines of @step, notes)."""
        done = self.tool('dpc-compile', self.path(model), '--stop-after=placed', '-o', '-', *flags)
        step = done.stdout.split('func.func @eval')[0]
        found = re.findall(r'dist\.layout = #dist\.layout<"([^"]*)">, nn\.arg = #nn\.arg<\w+ "([^"]*)"', step)
        return {name: layout for layout, name in found}, step.splitlines(), done.stderr

    def refuse(self, words, model, *flags):
        done = self.run('dpc-compile', self.path(model), '-o', self.path('none'), *flags)
        lines = [line for line in done.stderr.splitlines() if not line.startswith('dpc-compile: note:')]
        expect(done.returncode in (1, 2) and len(lines) == 1, f'exit {done.returncode}, {lines}')
        for word in words:
            expect(word in lines[0], f'no {word!r} in {lines[0]!r}')
        expect(not os.path.exists(self.path('none')), 'a file is left')

    def train(self, case, tag, mesh, *flags, save=False):
        """(losses, state); the saved model is TAG.onnx."""
        stem = self.path(f'{case}.{tag}')
        folder = os.path.join(interp.MODELS, case)
        ranks = np.prod([int(axis.split('=')[1]) for axis in mesh.split(',')]) if mesh else 1
        self.tool('dpc-compile', os.path.join(folder, 'model.onnx'), '-o', stem, '--precision=f64', *interp.CASES[case][0],
                  *([f'--mesh={mesh}'] if mesh else []), *flags)
        self.tool('dpc-run', '-n', str(ranks), stem, f'--data={folder}/data.npz', '--no-shuffle', '--steps=4',
                  f'--log={stem}.jsonl', f'--save-params={stem}.safetensors', *([f'--save-onnx={stem}.onnx'] if save else []))
        with open(stem + '.jsonl') as log:
            return np.array([json.loads(line)['loss'] for line in log]), interp.read_safetensors(stem + '.safetensors')


def check_megatron(tests):
    """Cuts that a user gives name dimensions; the heads in them are found."""
    mesh = '--mesh=data=2,model=2'
    chosen = tests.place('gpt2.onnx', *LOSS, mesh)[0]
    given = tests.place('gpt2.onnx', *LOSS, mesh, *requests(*MEGATRON))[0]
    expect(given == chosen, f'{[(n, given[n], chosen[n]) for n in given if given[n] != chosen[n]]}')
    expect(any('(3)(16: model)(64)' in layout for layout in given.values()), f'no heads are cut: {given}')


def check_precedence(tests):
    name = 'model.transformer.h.0.mlp.c_fc.weight'
    layouts, _, _ = tests.place('gpt2.onnx', *LOSS, '--mesh=model=2',
                                *requests(name + '=-,-', '*.c_fc.weight=-,model', '*.2.mlp.c_fc.weight=model,-'))
    got = [layouts[name.replace('0', layer)] for layer in '012']
    expect(got == ['[1024], [4096]', '[1024], [(4096: model)]', '[(1024: model)], [4096]'], f'{got}')


def check_input(tests):
    layouts, _, _ = tests.place('gpt2.onnx', *LOSS, '--mesh=data=2,seq=2', *requests('ids=data,seq'))
    expect(layouts['ids'] == '[(8: data)], [(512: seq)]', layouts['ids'])
    # Whoever cuts inputs over an axis does not ask for parameters to be cut over it.
    expect('seq' not in layouts['model.lm_head.weight'], layouts['model.lm_head.weight'])


def check_value(tests):
    mesh = '--mesh=data=2,model=2'
    asked = '[(8: data)], [(512: model)], [1024]'
    before = tests.place('gpt2.onnx', *LOSS, mesh)[1]
    expect(not any(asked in line for line in before), 'the value lies so anyway')
    for name in ('node_add_4', 'add_4'):  # of the node, and of its output
        lines = tests.place('gpt2.onnx', *LOSS, mesh, *requests(name + '=data,model,-'))[1]
        expect(any('dist.reshard' in line and f'to <"{asked}">' in line for line in lines), f'{name} is not brought there')


def check_batch_axes(tests):
    layouts = tests.place('gpt2.onnx', *LOSS, '--mesh=hosts=2,data=2', '--batch-axes=hosts')[0]
    expect(layouts['ids'] == '[(8: hosts)], [512]', layouts['ids'])
    expect(any('data' in layout for layout in layouts.values()), 'axis data cuts nothing, though it is not the batch\'s')


def check_table(tests):
    layouts = tests.place('gpt2.onnx', *LOSS, '--mesh=data=2,model=2', *requests('*lm_head.weight=model,-'))[0]
    expect(layouts['model.lm_head.weight'] == '[(32000: model)], [1024]', layouts['model.lm_head.weight'])


def check_two_dimensions(tests):
    layouts = tests.place('gpt2.onnx', *LOSS, '--mesh=x=2,y=2', *requests('*.mlp.c_fc.weight=x,y'))[0]
    got = layouts['model.transformer.h.1.mlp.c_fc.weight']
    expect(got == '[(1024: x)], [(4096: y)]', got)


def check_what_helps(tests):
    """Of a transformer each row of the table that has a request is gone with it."""
    def rows(model, *flags):
        done = tests.tool('dpc-compile', tests.path(model), '--stop-after=placed', *LOSS,
                          '--mesh=model=2', '--explain', *flags)
        table = done.stderr.split('RESHARDS OF ONE STEP\n')[1].split('\n\n')[0].splitlines()
        cells = [re.split(r'\s{2,}', line.strip()) for line in table]
        header = next(at for at, row in enumerate(cells) if row[0] == 'sent')
        return [dict(zip(cells[header], row, strict=True)) for row in cells[header + 1:] if len(row) == len(cells[header])]

    def times(table, row):
        return sum(int(other['times']) for other in table
                   if all(other[key] == row[key] for key in ('pass', 'steps', 'what', 'read by')))
    for model in ('gpt2.onnx', 'llama.onnx'):
        table = rows(model)
        asked = [row for row in table if re.fullmatch(r'\S+=\S+', row['--shard= that helps'])]
        expect(len(asked) >= 5, f'{model}: only {len(asked)} of {len(table)} rows have a request')
        for request in sorted({row['--shard= that helps'] for row in asked}):
            other = rows(model, f'--shard={request}')
            for row in asked:
                if row['--shard= that helps'] == request:
                    left = times(table, row) - int(row['times'])
                    expect(times(other, row) <= left, f'{model}: {request} leaves {times(other, row)} of {row}')


def check_refused(tests):
    mesh = [*LOSS, '--mesh=data=2,model=2']
    name = 'model.transformer.wpe.weight'
    for words, request in [
            ((name, "axis 'seq'", 'mesh'), name + '=seq,-'), ((name, "axis 'model' is given twice"), name + '=model,model'),
            (('*nothing*', 'names no'), '*nothing*=-'), ((name, '3 entries', '2 dimensions'), name + '=-,-,-'),
            (("'ids'", 'cut over data', 'not model'), 'ids=model,-'), (("node 'node_add_4'", "axis 'seq'"), 'node_add_4=-,seq,-')]:
        tests.refuse(words, 'gpt2.onnx', *mesh, *requests(request))
    tests.refuse(("no axis 'rows'", 'data, model'), 'gpt2.onnx', *mesh, '--batch-axes=rows')


def plan_of(tests):
    """A saved model with its plan, and the layouts of the plan."""
    mesh, flags = 'data=2,model=2', requests('*c_fc.weight=-,model', '*mlp.c_proj.weight=-,-')
    if not os.path.exists(tests.path('gpt2.plan.onnx')):
        tests.train('gpt2', 'plan', mesh, *flags, save=True)
        shutil.copy(os.path.join(interp.MODELS, 'gpt2', 'model.onnx'), tests.path('plain.onnx'))
    return 'gpt2.plan.onnx', tests.place('plain.onnx', *interp.CASES['gpt2'][0], '--mesh=' + mesh, *flags)[0]


def check_round_trip(tests):
    saved, plan = plan_of(tests)
    flags = [*interp.CASES['gpt2'][0], '--mesh=data=2,model=2']
    again, _, notes = tests.place(saved, *flags)
    expect(again == plan, f'{[(n, again.get(n), plan[n]) for n in plan if again.get(n) != plan[n]]}')
    expect(again != tests.place('plain.onnx', *flags)[0], 'the plan is what is chosen anyway')
    onnx.checker.check_model(onnx.load(tests.path(saved)), full_check=True)
    # The command line comes first, and another number of devices makes another plan.
    other, _, notes = tests.place(saved, *flags, *requests('*mlp.c_proj.weight=model,-'))
    expect(notes.count('--shard comes before the layouts in the file') == 1, notes)
    expect(any('mlp.c_proj.weight' in n and other[n] != plan[n] for n in plan), 'the file wins over --shard')
    _, _, notes = tests.place(saved, *interp.CASES['gpt2'][0], '--mesh=model=2')
    expect('for 4 devices, the mesh has 2: they are ignored' in notes, notes)


def check_value_spec(tests):
    """A spec of what a node makes is a request for it."""
    model = onnx.load(tests.path('gpt2.onnx'), load_external_data=False)
    config = model.configuration.add()
    config.name, config.num_devices = 'four', 4
    own = next(node for node in model.graph.node if node.name == 'node_add_4').device_configurations.add()
    own.configuration_id = 'four'
    spec = own.sharding_spec.add()
    spec.tensor_name = 'add_4'
    spec.device.extend(range(4))
    for axis in (0, -2):
        dim = spec.sharded_dim.add()
        dim.axis = axis
        dim.simple_sharding.add().num_shards = 2
    onnx.save(model, tests.path('value.onnx'))
    lines = tests.place('value.onnx', *LOSS, '--mesh=data=2,model=2')[1]
    expect(any('dist.reshard' in line and 'to <"[(8: data)], [(512: model)], [1024]">' in line for line in lines),
           'it is not brought there')


def check_bad_specs(tests):
    saved, _ = plan_of(tests)

    def refuse(words, edit, mesh='data=2,model=2'):
        model = onnx.load(tests.path(saved))
        owner = next(node for node in model.graph.node for own in node.device_configurations
                     for spec in own.sharding_spec if spec.sharded_dim and 'weight' in spec.tensor_name)
        spec = next(spec for spec in owner.device_configurations[0].sharding_spec if spec.sharded_dim)
        edit(model, owner, spec)
        onnx.save(model, tests.path('edited.onnx'))
        tests.refuse(words, 'edited.onnx', *interp.CASES['gpt2'][0], '--mesh=' + mesh)

    def contradict(model, owner, spec):
        copy = owner.device_configurations[0].sharding_spec.add()
        copy.tensor_name = spec.tensor_name

    def simple(spec):
        return spec.sharded_dim[0].simple_sharding[0]

    refuse(('axis 5', 'dimensions'), lambda m, n, s: setattr(s.sharded_dim[0], 'axis', 5))
    refuse(('is given twice',), lambda m, n, s: s.sharded_dim.add().CopyFrom(s.sharded_dim[0]))
    refuse(('contradict each other',), contradict)
    refuse(('neither reads nor makes',), lambda m, n, s: setattr(s, 'tensor_name', 'nothing'))
    refuse(('device 9', 'has 4'), lambda m, n, s: s.index_to_device_group_map[0].value.append(9))
    refuse(('indices along axis',), lambda m, n, s: setattr(simple(s), 'dim_value', 7))
    refuse(('devices or groups',), lambda m, n, s: s.device.append(0))
    refuse(('no axes of the mesh model=4',), lambda m, n, s: None, 'model=4')
    refuse(('which the file lacks',), lambda m, n, s: m.ClearField('configuration'))


def check_trained(tests, case, mesh, *flags):
    alone = f'{case}.alone'
    if not hasattr(tests, alone):
        setattr(tests, alone, tests.train(case, 'alone', ''))
    losses, state = getattr(tests, alone)
    tag = re.sub(r'\W', '', mesh + ''.join(flags))
    got, gotState = tests.train(case, tag, mesh, *flags)
    expect(np.allclose(got, losses, rtol=TOLERANCE, atol=TOLERANCE), f'losses {got}, not {losses}')
    expect(gotState.keys() == state.keys(), 'other state')
    for name in state:
        worst = np.max(np.abs(gotState[name] - state[name]), initial=0)
        expect(worst <= 1e-9, f'{name} differs by {worst}')


def tests_of(tests):
    """(name, function) of each test."""
    for check in (check_megatron, check_precedence, check_input, check_value, check_batch_axes, check_table,
                  check_two_dimensions, check_what_helps, check_refused, check_round_trip, check_value_spec, check_bad_specs):
        yield 'request ' + check.__name__[6:].replace('_', ' '), lambda c=check: c(tests)
    for case, mesh, *flags in [
            ('gpt2', 'model=2', *requests('*c_fc.weight=-,model', '*mlp.c_proj.weight=-,-')),
            ('gpt2', 'data=2,seq=2', *requests('input_ids=data,seq')),
            ('gpt2', 'data=2,seq=2', '--microbatches=2', *requests('input_ids=data,seq')),
            ('gpt2', 'data=2,model=2', *requests('*mlp.c_proj.weight=-,model', 'node_add_[4-9]=data,model,-')),
            # Key-value heads, of which there are fewer than devices.
            ('llama', 'model=4'),
            ('llama', 'x=2,y=2', *requests('val_24?=x,y'))]:
        yield f'request trained {case} {mesh} {" ".join(flags)}', lambda a=(case, mesh, *flags): check_trained(tests, *a)


def main():
    options = interp.parse_options(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        tests = Requests(interp.find_tools(), folder)
        passed = failed = 0
        for name, test in tests_of(tests):
            if options.k and options.k not in name:
                continue
            try:
                test()
                passed += 1
                if options.v:
                    print('ok', name, flush=True)
            except (Failed, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f'FAILED {name}: {error}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
