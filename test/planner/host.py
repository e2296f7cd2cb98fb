"""Gate `host`: `dpc-run --describe` writes a topology file of this machine, and programs that are planned for one run. No test
judges a time."""
import json
import math
import os
import socket
import subprocess
import tempfile

from tools import LIMIT, MODELS, expect, test

MLP = os.path.join(MODELS, 'mlp', 'model.onnx')
DATA = os.path.join(MODELS, 'mlp', 'data.npz')
TRAIN = ['--loss=cross-entropy', '--optimizer=adam,lr=0.01', '--shape=x:8x16']
TIMED = {'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'message'}


def levels_of(host):
    return [(level['name'], level['size']) for level in host['levels']]


def form(value):
    """A file without its numbers, except for sizes: two descriptions of a machine have the same form."""
    if isinstance(value, dict):
        return {key: each if key == 'size' else form(each) for key, each in value.items() if key not in ('unit_GB_per_s', 'start_us')}
    if isinstance(value, list):
        pair = len(value) == 2 and all(isinstance(each, (int, float)) for each in value)
        return value[0] if pair else [form(each) for each in value]
    return value if isinstance(value, str) else None


def check_numbers(host, several):
    device = host['device']
    expect(device['launch_us'] > 0, f'{device["launch_us"]}')
    expect(('start_us' in host) == several and ('slowdown_of_communication' in device) == several, f'{host.keys()}, {device.keys()}')
    if several:
        expect(set(host['start_us']) == TIMED and min(host['start_us'].values()) > 0, f'{host["start_us"]}')
        expect(1 <= device['slowdown_of_communication'] < math.inf, f'{device["slowdown_of_communication"]}')
    for name, curves in device['efficiency'].items():
        for points in curves.values():
            times = [size / share for size, share in points]
            expect(times == sorted(times), f'larger kernels of class {name} take less time: {points}')


def described(tools, *flags):
    path = tools.path('host.json')
    out, error = tools.good('dpc-run', f'--describe={path}', *flags)
    expect(not out and not error, f'prints {out} {error}')
    with open(path) as file:
        return path, json.load(file)


@test('host')
def a_description_is_a_topology(tools):
    """With two ranks, and written once more over the first one."""
    forms = []
    for _ in range(2):
        path, host = described(tools, '-n', '2')
        expect(levels_of(host) == [('local', 2)], f'{host["levels"]}')
        expect(set(host['device']['TFLOP_per_s']) == {'f64', 'f32', 'bf16', 'f16'}, f'{host["device"]["TFLOP_per_s"]}')
        expect(len(host['device']['efficiency']) == 8, f'{host["device"]["efficiency"].keys()}')
        check_numbers(host, True)
        forms.append(form(host))
        page, _ = tools.good('dpc-compile', MLP, *TRAIN, '--mesh=data=2', f'--topology={path}', '--stop-after=exec', '--explain', '-o', 'out')
        expect(f'machine: {host["name"]}' in page, page[:300])
    expect(forms[0] == forms[1], f'{forms[0]} is not the form of {forms[1]}')
    tools.refused(1, 'its levels hold 2 devices, and --mesh has 4', 'dpc-compile', MLP, *TRAIN, '--mesh=data=4', f'--topology={path}', '-o', 'out')


@test('host')
def the_transport_is_measured(tools):
    """A link of 20 MB/s is slower than any memory, so its number is the emulated one. No operation is faster than its latency."""
    _, host = described(tools, '-n', '2', '--comm=local,bandwidth=20MB/s,latency=1ms')
    expect(host['levels'][0]['GB_per_s'] < 0.03, f'{host["levels"]}')
    expect(min(host['start_us'].values()) >= 500, f'{host["start_us"]}')
    check_numbers(host, True)
    _, host = described(tools, '-n', '3', '--comm=sockets')
    expect(levels_of(host) == [('sockets', 3)], f'{host["levels"]}')
    check_numbers(host, True)


def described_together(tools, counts, *flags):
    """Two launchers on this machine, one for each host. (exit code, standard output and error) of each, and the file's path."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
    token, path = tools.write('token', os.urandom(32).hex()), tools.path('hosts.json')
    os.chmod(token, 0o600)
    launchers = []
    for node, count in enumerate(counts):
        work = tempfile.mkdtemp(dir=tools.folder)
        command = [os.path.join(tools.binaries, 'dpc-run'), f'--describe={path}', '-n', str(count), f'--nodes={len(counts)}',
                   f'--node-rank={node}', f'--rendezvous=tcp://127.0.0.1:{port}', f'--token-file={token}', *flags]
        launchers.append(subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                          stdin=subprocess.DEVNULL, env=tools.environment(work)))
    ends = []
    for launcher in launchers:
        text = launcher.communicate(timeout=LIMIT)[0]
        ends.append((launcher.returncode, text.strip()))
    return ends, path


@test('host')
def hosts_are_levels(tools):
    """Two hosts of two ranks and of one, over sockets: inside a host, and between hosts."""
    for count in (2, 1):
        ends, path = described_together(tools, [count, count], '--comm=sockets')
        expect(ends == [(0, ''), (0, '')], f'{ends}')
        with open(path) as file:
            host = json.load(file)
        expect(levels_of(host) == [('host', count), ('network', 2)], f'{host["levels"]}')
        expect('1 other host' in host['name'] and 'over sockets' in host['name'], host['name'])
        check_numbers(host, True)
        network = host['levels'][1]
        expect(network['GB_per_s'] > 0 and network.get('unit_GB_per_s', 1) > 0 and network.get('start_us', 1) > 0, f'{network}')
        page, _ = tools.good('dpc-compile', MLP, *TRAIN, f'--mesh=data={2 * count}', f'--topology={path}', '--stop-after=exec', '--explain',
                             '-o', 'out')
        expect(f'machine: {host["name"]}' in page, page[:300])
    ends, path = described_together(tools, [1, 2])
    for code, text in ends:
        expect(code == 1 and 'has -n 2, node 0' in text and '\n' not in text, f'{ends}')


@test('host')
def one_rank_has_no_collectives(tools):
    _, host = described(tools, '-n', '1')
    expect(host['levels'][0]['size'] == 1, f'{host}')
    check_numbers(host, False)


@test('host')
def the_measured_host_is_the_default(tools):
    """`dpc-run --describe` prints the path of its file, and so does dpc-compile, which plans for it if it fits."""
    tools.variables = {'XDG_CACHE_HOME': tools.path('cache'), 'DPC_TOPOLOGY': ''}
    os.mkdir(tools.path('cache'))
    program, path = tools.path('program'), tools.path('cache/dpc/host.json')
    compiled = ['dpc-compile', MLP, *TRAIN, '--mesh=data=2', '-o', program]
    without, error = tools.good(*compiled, '--explain')
    expect('host' not in error, error)
    out, error = tools.good('dpc-run', '--describe', '-n', '2')
    expect(out.count('\n') == 1 and path in out and not error, f'{out} {error}')
    with open(path) as file:
        name = json.load(file)['name']
    page, error = tools.good(*compiled, '--explain')
    expect(error.count(path) == 1 and f'machine: {name}' in page, f'{error} {page[:200]}')
    expect(f'--topology={path}' in tools.good('dpc-run', program, '--version')[0], 'the program does not know its machine')
    again, error = tools.good('dpc-compile', MLP, *TRAIN, '--mesh=data=2', '-o', program, '--explain', f'--topology={path}')
    expect(again == page and path not in error, f'{error} {again[:200]}')
    # With what asks for other numbers, the file does not exist.
    for flags in (['--topology=target'], ['--target=scalar'], ['--cpu=x86-64-v3'], ['--target=cuda', '--ptxas=off']):
        expect(path not in tools.good(*compiled, *flags)[1], f'{flags}')
    target = tools.good(*compiled, '--explain', '--topology=target')[0]
    expect(target.replace(' --topology=target', '') == without, 'the target has other numbers')
    tools.variables['DPC_TOPOLOGY'] = 'target'
    page, error = tools.good(*compiled, '--explain')
    expect(page == without and path not in error, f'{error} {page[:200]}')
    tools.variables['DPC_TOPOLOGY'] = path
    page, error = tools.good(*compiled, '--explain', '--cpu=x86-64-v3')
    expect(error.count(path) == 1 and f'machine: {name}' in page, f'{error} {page[:200]}')
    tools.variables['DPC_TOPOLOGY'] = ''
    # A program for which the file is too small has the target's numbers.
    _, error = tools.good('dpc-compile', MLP, *TRAIN, '--mesh=data=4', '-o', program)
    expect(f'not planned for the measured host, {path}: its levels hold 2 devices, and --mesh has 4' in error, error)
    # A bad file is refused. Its lines are those of any topology.
    with open(path, 'w') as file:
        file.write('{')
    tools.refused(1, f'the measured host: {path}: this is not JSON', *compiled[:-1], 'out')
    os.remove(path)
    os.mkdir(path)
    tools.refused(1, f'the measured host: {path}: ', *compiled[:-1], 'out')
    tools.variables['DPC_TOPOLOGY'] = tools.path('none.json')
    tools.refused(1, f'DPC_TOPOLOGY: {tools.path("none.json")}: No such file', *compiled[:-1], 'out')


@test('host')
def other_hosts_are_noted(tools):
    """Rank 0 says once that the program was planned for other hosts than it finds."""
    def run(program, *flags):
        out, error = tools.good('dpc-run', '-n', '2', program, f'--data={DATA}', '--steps=1', *flags)
        return [line for line in (out + error).split('\n') if 'was planned' in line]

    def planned(levels):
        text = {'name': 'ours', 'device': {'memory_GB_per_s': 20, 'TFLOP_per_s': {'f32': 0.1}},
                'levels': [{'name': name, 'size': size, 'GB_per_s': 3} for name, size in levels]}
        program = tools.path('program')
        tools.good('dpc-compile', MLP, *TRAIN, '--mesh=data=2', '-o', program, f'--topology={tools.write("ours.json", json.dumps(text))}')
        return program

    program = planned([('card', 1), ('net', 4)])
    expect(run(program) == ["note: the program was planned for 1 rank per host (level 'card' of ours); this run has 2"], f'{run(program)}')
    expect(run(program, '--comm=local') == run(program), 'shared memory does not know its host')
    expect(not run(program, '--comm=sockets'), 'sockets look for no hosts')
    for levels in ([('node', 2)], [('node', 8)], [('node', 2), ('net', 4)], [('socket', 1), ('node', 2), ('net', 4)]):
        expect(not run(planned(levels)), f'{levels}')
    tools.good('dpc-compile', MLP, *TRAIN, '--mesh=data=2', '-o', program, '--topology=target')
    expect(not run(program), 'the target knows no hosts')


@test('host')
def bad_requests_have_one_line(tools):
    tools.refused(2, '--describe= needs the file to write', 'dpc-run', '--describe=')
    tools.refused(2, '--describe measures hosts and runs nothing', 'dpc-run', '--describe=h.json', './program')
    tools.refused(2, '--describe measures hosts and runs nothing', 'dpc-run', '--describe=h.json', '--verify')
    tools.refused(2, '--nodes=2 needs --rendezvous', 'dpc-run', '--describe=h.json', '--nodes=2', '--node-rank=0')
    tools.refused(2, '--nodes=2 and --comm=local', 'dpc-run', '--describe=h.json', '--nodes=2', '--node-rank=0', '--comm=local')
    tools.refused(2, '--comm is an option of the program', 'dpc-run', '--comm=local', './program')
    tools.refused(2, '--comm=nccl is for devices', 'dpc-run', '--describe=h.json', '--comm=nccl')
    tools.refused(2, 'carrier-pigeon', 'dpc-run', '--describe=h.json', '--comm=carrier-pigeon')
    tools.refused(2, 'emulates no link', 'dpc-run', '--describe=h.json', '-n', '2', '--comm=sockets,latency=1ms')
    tools.refused(5, '/nowhere', 'dpc-run', '--describe=/nowhere/h.json', '-n', '1')
    tools.refused(2, 'unknown option --rank=2; known: --ranks=N, --cpu=NAME', 'dpc-device', '--rank=2')
    tools.variables = {'XDG_CACHE_HOME': '', 'HOME': ''}
    tools.refused(2, 'neither XDG_CACHE_HOME nor HOME names a folder', 'dpc-run', '--describe')
    tools.variables = {'XDG_CACHE_HOME': '/proc/nowhere'}
    tools.refused(5, '/proc/nowhere', 'dpc-run', '--describe')
