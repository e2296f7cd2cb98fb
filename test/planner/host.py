"""Gate `host`: `dpc-run --describe` writes a topology file of this machine. No test judges its numbers."""
import json
import os

from tools import MODELS, expect, test

MLP = os.path.join(MODELS, 'mlp', 'model.onnx')
TRAIN = ['--loss=cross-entropy', '--optimizer=adam,lr=0.01', '--shape=x:24x16']


def described(tools, *flags):
    path = tools.path('host.json')
    out, error = tools.good('dpc-run', f'--describe={path}', *flags)
    expect(not out and not error, f'prints {out} {error}')
    with open(path) as file:
        return path, json.load(file)


@test('host')
def a_description_is_a_topology(tools):
    """With two ranks, and written once more over the first one."""
    for _ in range(2):
        path, host = described(tools, '-n', '2')
        expect([(level['name'], level['size']) for level in host['levels']] == [('local', 2)], f'{host["levels"]}')
        expect(set(host['start_us']) == {'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'message'}, f'{host["start_us"]}')
        expect(set(host['device']['TFLOP_per_s']) == {'f64', 'f32', 'bf16', 'f16'}, f'{host["device"]["TFLOP_per_s"]}')
        expect(len(host['device']['efficiency']) == 8, f'{host["device"]["efficiency"].keys()}')
        page, _ = tools.good('dpc-compile', MLP, *TRAIN, '--mesh=data=2', f'--topology={path}', '--stop-after=exec', '--explain', '-o', 'out')
        expect(f'machine: {host["name"]}' in page, page[:300])
    tools.refused(1, 'its levels hold 2 devices, and --mesh has 4', 'dpc-compile', MLP, *TRAIN, '--mesh=data=4', f'--topology={path}', '-o', 'out')


@test('host')
def the_transport_is_measured(tools):
    """A link of 20 MB/s is slower than any memory, so its number is the emulated one."""
    _, host = described(tools, '-n', '2', '--comm=local,bandwidth=20MB/s')
    expect(host['levels'][0]['GB_per_s'] < 0.03, f'{host["levels"]}')
    _, host = described(tools, '-n', '3', '--comm=sockets')
    expect([(level['name'], level['size']) for level in host['levels']] == [('sockets', 3)], f'{host["levels"]}')


@test('host')
def one_rank_has_no_collectives(tools):
    _, host = described(tools, '-n', '1')
    expect('start_us' not in host and host['levels'][0]['size'] == 1, f'{host}')


@test('host')
def bad_requests_have_one_line(tools):
    tools.refused(2, '--describe= needs the file to write', 'dpc-run', '--describe=')
    tools.refused(2, '--describe measures this host and runs nothing', 'dpc-run', '--describe=h.json', './program')
    tools.refused(2, '--describe measures this host and runs nothing', 'dpc-run', '--describe=h.json', '--nodes=2', '--node-rank=0')
    tools.refused(2, '--comm is an option of the program', 'dpc-run', '--comm=local', './program')
    tools.refused(2, '--comm=nccl is for devices', 'dpc-run', '--describe=h.json', '--comm=nccl')
    tools.refused(2, 'carrier-pigeon', 'dpc-run', '--describe=h.json', '--comm=carrier-pigeon')
    tools.refused(5, '/nowhere', 'dpc-run', '--describe=/nowhere/h.json', '-n', '1')
    tools.refused(2, 'unknown option --rank=2; known: --ranks=N, --cpu=NAME', 'dpc-device', '--rank=2')
