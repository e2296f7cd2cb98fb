"""Tests `describe ..`: dpc-run --describe measures three hosts, and a run compares its hosts with those for which it was planned."""
import json
import os

from runs import ends, expect, Failed, interp, succeed, training

NOTE = 'note: the program was planned for'


def compile_for(world, topology):
    program = world.path('planned', os.path.basename(topology))
    world.runner.tool('dpc-compile', os.path.join(interp.MODELS, 'mlp', 'model.onnx'), '-o', program, *interp.CASES['mlp'][0],
                      '--mesh=data=6', f'--topology={topology}')
    return program


def check_hosts(world):
    """The file has a level of each host's ranks and one of the hosts. A program that is planned for it runs without a note."""
    path = world.path('hosts.json')
    results = succeed(world.launch(f'--describe={path}', counts=[2, 2, 2]))
    if any(out or error for _, out, error in results):
        raise Failed(f'prints {results}')
    with open(path) as file:
        host = json.load(file)
    levels = [(level['name'], level['size']) for level in host['levels']]
    if levels != [('host', 2), ('network', 3)] or 'and 2 other hosts, 2 ranks each over sockets' not in host['name']:
        raise Failed(f'{levels} of {host["name"]}')
    program = compile_for(world, path)
    results = succeed(world.launch(*training(world, 'mlp', program, program)))
    if any(NOTE in out + error for _, out, error in results):
        raise Failed(f'the hosts of the file are not those of the run: {results}')


def check_throttled(world):
    """Each host sends at most 12.5 MB/s, which its ranks share. No clock makes that more."""
    limit = 12.5e-3 * 1.3  # GB/s, and some bytes that the kernel holds
    path = world.path('throttled.json')
    device = 'dev eth0 root'
    try:
        for host in world.hosts:
            host.do(f'tc qdisc replace {device} tbf rate 100mbit burst 64kb latency 200ms')
    except RuntimeError:
        return  # this machine throttles no links
    try:
        succeed(world.launch(f'--describe={path}', counts=[2, 2, 2]))
    finally:
        for host in world.hosts:
            host.do(f'tc qdisc delete {device}')
    with open(path) as file:
        network = json.load(file)['levels'][1]
    if network['GB_per_s'] > limit or network.get('unit_GB_per_s', 0) > limit:
        raise Failed(f'measures {network}')


def check_note(world):
    """Rank 0 says that the hosts have fewer ranks than those of the file."""
    file = os.path.join(interp.ROOT, 'topologies', 'h100-infiniband.json')
    program = compile_for(world, file)
    results = succeed(world.launch(*training(world, 'mlp', program, program)))
    with open(file) as text:
        name = json.load(text)['name']
    want = f"{NOTE} 6 ranks per host (level 'NVSwitch' of {name}); this run has 2\n" if world.isolated else ''
    if want not in results[0][1] or sum((out + error).count(NOTE) for _, out, error in results) != bool(want):
        raise Failed(f'not once "{want}": {results}')


def check_program_beside(world):
    """A launcher that measures does not meet one that runs a program."""
    program = world.program('mlp', ['--mesh=data=6'])
    place = world.rendezvous()
    launchers = world.launch('--describe=' + world.path('never.json'), counts=[2], rendezvous=place, nodes=2, hosts=world.hosts[:1]) + \
        world.launch(*training(world, 'mlp', program, world.path('never')), rendezvous=place, nodes=2, indices=[1], hosts=world.hosts[1:2])
    for result in ends(launchers):
        expect([result], 1, 'dpc-run')
    if os.path.exists(world.path('never.json')):
        raise Failed('a file is left')


def tests(world):
    """Names and functions. A check that needs hosts of its own, which this machine does not make, has no function."""
    return [('describe hosts', lambda: check_hosts(world)),
            ('describe throttled', (lambda: check_throttled(world)) if world.isolated else None),
            ('describe other hosts', lambda: check_note(world)),
            ('describe beside a program', lambda: check_program_beside(world))]
