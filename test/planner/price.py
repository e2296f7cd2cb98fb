"""Gate `price`: topology files, and what programs that are planned for them show."""
import json
import os
import re

from tools import MODELS, ROOT, Failed, expect, test

FILES = os.path.join(ROOT, 'topologies')
MLP = os.path.join(MODELS, 'mlp', 'model.onnx')
TRAIN = ['--loss=cross-entropy', '--optimizer=adam,lr=0.01']
GOOD = {'name': 'two hosts',
        'device': {'memory_GiB': 16, 'memory_GB_per_s': 100, 'launch_us': 2, 'TFLOP_per_s': {'f32': 1.5}},
        'levels': [{'name': 'host', 'size': 4, 'GB_per_s': 50, 'start_us': 1},
                   {'name': 'network', 'size': 2, 'GB_per_s': 5, 'start_us': 7}]}


def compiled(*flags, stop='scheduled'):
    return ['dpc-compile', MLP, *TRAIN, '--shape=x:24x16', f'--stop-after={stop}', *flags]


def changed(change):
    """GOOD as text, after `change` has changed a copy."""
    copy = json.loads(json.dumps(GOOD))
    change(copy)
    return json.dumps(copy)


def communication(page):
    """By collective and axes: the bytes and milliseconds of the page's section about communication."""
    rows = {}
    for line in page.split('\n'):
        cells = re.split(r'  +', line.strip())
        if len(cells) == 6 and re.fullmatch(r'[\d.]+', cells[5]):
            rows[cells[1], cells[2]] = cells[4], float(cells[5])
    if not rows:
        raise Failed(f'no communication in: {page[-500:]}')
    return rows


@test('price')
def files_of_the_project_are_read(tools):
    for name in sorted(os.listdir(FILES)):
        target = 'cpu' if name.startswith('cpu') else 'cuda'
        tools.good(*compiled('--mesh=data=2', f'--target={target}', f'--topology={FILES}/{name}', '-o', 'out', stop='placed'))


@test('price')
def the_program_names_its_machine(tools):
    file = tools.write('two.json', json.dumps(GOOD))
    text, _ = tools.good(*compiled('--mesh=data=4,model=2', f'--topology={file}'))
    machine = re.search(r'dist\.machine = (#\S+)', text)
    expect('name = "two hosts"' in text and 'name = "network"' in text, f'no topology in: {machine and machine[0]}')


@test('price')
def equal_inputs_give_equal_programs(tools):
    file = tools.write('two.json', json.dumps(GOOD))
    texts = {tools.good(*compiled('--mesh=data=4,model=2', f'--topology={file}'))[0] for _ in range(2)}
    expect(len(texts) == 1, 'two compilations differ')


@test('price')
def the_last_axis_lies_inside(tools):
    """Gradients are summed over `data`. As the last axis it lies on a host, as the first one on the network."""
    file = tools.write('two.json', json.dumps(GOOD))
    times = []
    for mesh in ('model=2,data=4', 'data=2,model=4'):
        page, _ = tools.good(*compiled(f'--mesh={mesh}', f'--topology={file}', '--shard=*.weight=-,-', '--shard=*.bias=-', '--zero=0', '--explain',
                                       '-o', 'out', stop='exec'))
        times.append(sum(seconds for (kind, axes), (_, seconds) in communication(page).items() if axes == 'data'))
    expect(times[1] > 2 * times[0], f'on a host {times[0]} ms, on the network {times[1]} ms')


@test('price')
def rates_times_k_give_times_over_k(tools):
    def faster(topology):
        topology['device']['memory_GB_per_s'] *= 4
        topology['device']['TFLOP_per_s']['f32'] *= 4
        topology['device']['launch_us'] /= 4
        for level in topology['levels']:
            level['GB_per_s'] *= 4
            level['start_us'] /= 4
    pages = []
    for name, text in (('slow.json', json.dumps(GOOD)), ('fast.json', changed(faster))):
        pages.append(communication(tools.good(*compiled('--mesh=data=8', f'--topology={tools.write(name, text)}', '--zero=0',
                                                        '--explain', '-o', 'out', stop='exec'))[0]))
    expect(pages[0].keys() == pages[1].keys(), f'{pages[0]} and {pages[1]}')
    for row, (sent, slow) in pages[0].items():
        expect(pages[1][row][0] == sent, f'{row}: {pages[1][row][0]} and {sent}')
        expect(abs(slow / 4 - pages[1][row][1]) <= 0.0011, f'{row}: {slow} and {pages[1][row][1]} ms')


@test('price')
def bad_files_have_one_line(tools):
    def refuse(text, change, *flags, code=1, mesh='data=2'):
        content = change if isinstance(change, str) else changed(change)
        file = tools.write('bad.json', content)
        tools.refused(code, text.replace('FILE', file), *compiled(f'--mesh={mesh}', f'--topology={file}', *flags, '-o', 'out'))

    refuse('--topology: FILE: this is not JSON: [1:2', '{]')
    refuse("FILE: 'device' has the unknown key 'colour'", lambda t: t['device'].update(colour=1))
    refuse("FILE: 'TFLOP_per_s' of 'device' has no 'f32'", lambda t: t['device'].update(TFLOP_per_s={'bf16': 1}))
    refuse('FILE: the device has no rate for bf16, the type of --precision', lambda t: None, '--precision=bf16')
    refuse('FILE: its levels hold 8 devices, and --mesh has 9', lambda t: None, mesh='data=3,model=3')
    refuse("FILE: level 'host' has the bandwidth 0, which must be above 0", lambda t: t['levels'][0].update(GB_per_s=0))
    refuse("FILE: level 'host' has the bandwidth -5e+10", lambda t: t['levels'][0].update(GB_per_s=-50))
    refuse("FILE: level 'host' has the bandwidth inf", changed(lambda t: None).replace('50,', '1e308,'))
    refuse("FILE: level 'host' has the time to start -1e-06", lambda t: t['levels'][0].update(start_us=-1))
    refuse("FILE: level 'host' has no size", lambda t: t['levels'][0].pop('size'))
    refuse('FILE: there are no levels', lambda t: t.update(levels=[]))
    tools.refused(1, '--topology: nowhere.json: No such file or directory', *compiled('--topology=nowhere.json', '-o', 'out'))
    tools.refused(2, '--topology', *compiled('--topology=', '-o', 'out'))
