"""run-all on the emulated device: all parts, a sitting that is killed, items that fail and hang, and the table of its results."""
import importlib.machinery
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time

loader = importlib.machinery.SourceFileLoader('interp', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'interp', 'run'))
interp = importlib.util.module_from_spec(importlib.util.spec_from_loader('interp', loader))
loader.exec_module(interp)

WORKLOADS = 'gpt2_124m,resnet50.bf16,resnet18.f32,mlp_l.f32,layer_norm,cross_entropy,adamw'
# Kernels, one of them with mma in bf16; programs; workloads.
WORDS = '117,217,317,mlp 1,' + WORKLOADS
SIZES = ('--rounds=2', '--round-seconds=0.001', '--profile-steps=2', '--most-mib=1', '--product-sizes=32,32,40')
# Blocks of a launch and times of measurements: the values of large kernels do not count here.
QUICK = {'DPC_EMU_SM': '90', 'DPC_EMU_BLOCKS': '1', 'DPC_BENCH_LEAST_S': '0.0001', 'DPC_EMU_CHECK': '0'}

FAKES = {
    # Runs the command, and prints what Nsight Compute prints for the kernels that it was asked for.
    'ncu': '''import re, subprocess, sys
at = next(i for i, word in enumerate(sys.argv) if word.endswith('dpc-bench-steps'))
subprocess.run(sys.argv[at:], check=True)
kernels = re.search(r'\\\\((.*)\\\\)', sys.argv[sys.argv.index('--kernel-id') + 1])[1].split('|')
print('==PROF== Disconnected')
print('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"')
for number, kernel in enumerate(kernels):
    print(f'"{number}","{kernel}","Duration","us","{number + 0.5}"')
''',
    'hanging/nvidia-smi': '''import time
time.sleep(1000)
''',
    'compute-sanitizer': '''import os, sys
at = next(i for i, word in enumerate(sys.argv) if word.endswith('replay-kernels'))
os.execv(sys.argv[at], sys.argv[at:])
''',
    # A Python with PyTorch: its contenders answer as fast as a pipe does, except one that hangs and one that dies.
    'torch': '''import json, sys, time
if sys.argv[1] == '-c':
    print('fake')
elif 'torch_kernels' in sys.argv[1]:
    print(json.dumps({'kernel': 'sdpa both ways bf16', 'us': 10.0}))
elif sys.argv[2] == 'resnet18':
    time.sleep(1000)
elif sys.argv[2] == 'resnet50':
    sys.exit('out of memory')
else:
    print('READY', json.dumps({'ttfs_s': 1, 'loss0': 2.5}), flush=True)
    for line in sys.stdin:
        if line.startswith('QUIT'):
            break
        print('DONE', json.dumps({'s': 1e-3 * int(line.split()[1]), 'loss': 2.5}), flush=True)
''',
}


def expect(holds, what):
    if not holds:
        raise interp.Failed(what)


def fakes(folder):
    """Programs that a machine with a GPU may have, by name."""
    paths = {}
    for name, body in FAKES.items():
        paths[name] = os.path.join(folder, name)
        os.makedirs(os.path.dirname(paths[name]), exist_ok=True)
        with open(paths[name], 'w') as script:
            script.write(f'#!{sys.executable}\n' + body.replace('\\\\', '\\'))
        os.chmod(paths[name], 0o755)
    return paths


class Sitting:
    """The command of run-all with a file of results of its own."""

    def __init__(self, packs, name, *flags, **variables):
        self.results = os.path.join(packs.folder, name + '.jsonl')
        self.topology = os.path.join(packs.folder, name + '.topology.json')
        self.command = [sys.executable, os.path.join(packs.get(), 'run-all'), '--results=' + self.results,
                        '--topology=' + self.topology, *SIZES, *flags]
        self.variables = {**os.environ, **QUICK, **variables}

    def run(self, *flags, **variables):
        done = subprocess.run([*self.command, *flags], capture_output=True, text=True, env={**self.variables, **variables}, timeout=600)
        return done.returncode, done.stdout + done.stderr

    def lines(self):
        with open(self.results) as file:
            return [json.loads(line) for line in file]

    def ends(self):
        return {line['item']: line for line in self.lines() if 'ended' in line}


def check_all(packs):
    """Every part has results, and the table shows them."""
    found = fakes(os.path.join(packs.folder, 'fakes'))
    path = os.path.dirname(found['ncu']) + ':' + os.environ['PATH']
    sitting = Sitting(packs, 'all', '--torch=' + found['torch'], PATH=path)
    # Here all blocks run: the results of kernels, programs and sums are compared.
    sitting.run('--parts=8', '-k', 'sanitizer', DPC_EMU_BLOCKS='0')
    status, output = sitting.run('--parts=2,5', DPC_EMU_BLOCKS='0')
    ends = sitting.ends()
    live = ends.pop('NCCL abort with a live graph')
    expect(live['ended'] == 'failed' and 'waits for ever' in live['why'], str(live))
    expect(all(end['ended'] == 'done' for end in ends.values()) and len(ends) > 3, output)
    # The contender of resnet18 hangs. The end of a sitting says nothing about it, and it is begun again. A limit for each item does.
    for _ in range(3):
        status, output = sitting.run('--parts=6', '-k', 'resnet18', '--seconds=1.5', '--grace=0.5')
        expect(status == 0 and output.startswith('cut ') and '1 left: run again' in output, output)
    status, output = sitting.run('--parts=6', '-k', 'resnet18', '--item-seconds=4')
    expect(status == 1 and 'does not answer in time' in output, output)
    status, output = sitting.run()
    ends = sitting.ends()
    want = {'PyTorch resnet18 f32 default': 'it does not answer in time', 'PyTorch resnet50 bf16 default': 'out of memory',
            'PyTorch resnet50 bf16 eager': 'out of memory', 'NCCL abort with a live graph': 'waits for ever'}
    expect(status == 1 and re.search(rf'^\d+ items done, {len(want)} failed, 0 skipped, 0 left$', output, re.M), output)
    for name, end in ends.items():
        expect(end['ended'] == ('failed' if name in want else 'done') and want.get(name, '') in end.get('why', ''), f'{name}: {end}')
    for part in range(1, 9):
        expect(any(end['part'] == part and end['ended'] == 'done' for end in ends.values()), f'part {part} has no result')
    lines = sitting.lines()
    counted = [line for line in lines if 'counters' in line]
    profiled = [line for line in lines if line.get('item') == 'profile gpt2_124m bf16' and line.get('kernel_us')]
    longest = max(profiled, key=lambda line: line['us'])
    expect(longest['foretold_us'] > 0 and longest['GB_per_s'] > 0 and len(counted) > 8, f'{longest}, {len(counted)} counters')
    table = print_table(packs, sitting.results)
    for pattern in (r'^\| GPT-2 124M, bf16.* \| \d+\.\d+ \(\d+\.\d+ ms over 1\.00, (default|eager)\) \|$',
                    r'^\| kernels of LayerNorm.* \| \d+ % \| \d+ % of \d+ GB/s \|$', r'^\| attention.* us a layer \| .* us a layer over 10\) \|$',
                    r'^\| ResNet-18.* ms, without PyTorch \|$', r'^\| gpt2_4l.* \| not measured \|$',
                    r'^\| gpt2_124m bf16 \| product \| \d+ \| \d+ \| \d+ \| \d+\.\d+ \|$',
                    r'^\* PyTorch resnet50 bf16 default: .*out of memory$'):
        expect(re.search(pattern, table, re.M), f'{pattern} is not in\n{table}')
    check_topology(packs, sitting)
    return f'{len(ends)} items'


def print_table(packs, results):
    done = subprocess.run([sys.executable, os.path.join(packs.scripts, 'pack-gpu'), '--table=' + results], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    return done.stdout


def check_topology(packs, sitting):
    """dpc-compile takes the topology file of part 1."""
    model = os.path.join(packs.scripts, '..', 'test', 'models', 'mlp', 'model.onnx')
    done = subprocess.run([os.path.join(packs.tools, 'dpc-compile'), model, '--shape=x:8x16', '--loss=cross-entropy', '--optimizer=sgd,lr=1',
                           '--target=cuda', '--stop-after=exec', '--topology=' + sitting.topology, '--explain', '-o',
                           sitting.topology + '.mlir'], capture_output=True, text=True)
    expect(done.returncode == 0 and 'one emulated sm_90, measured' in done.stdout, f'exit {done.returncode}: {done.stderr}{done.stdout[-600:]}')


def check_resumed(packs):
    """A sitting that is killed loses only the item that it was at; one without time begins nothing."""
    sitting = Sitting(packs, 'resumed', '--parts=1,3')
    status, output = sitting.run('--seconds=-1')
    expect(status == 0 and re.search(r'^0 items done, 0 failed, 0 skipped, (\d+) left: run again$', output, re.M), output)
    with subprocess.Popen([*sitting.command, '--seconds=600'], env=sitting.variables, stdout=subprocess.DEVNULL) as run:
        while not (os.path.exists(sitting.results) and 'profile' in open(sitting.results).read()):
            expect(run.poll() is None, 'it ended')
            time.sleep(0.02)
        children = subprocess.run(['pgrep', '-P', str(run.pid)], capture_output=True, text=True).stdout.split()
        run.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while any(is_alive(child) for child in children):
        expect(time.monotonic() < end, 'a process of the killed sitting lives on')
        time.sleep(0.02)
    before = sitting.ends()
    begun = [line['item'] for line in sitting.lines() if 'begun' in line]
    expect(len(before) == len(begun) - 1 and begun[-1] not in before, f'{begun} were begun, {list(before)} ended')
    with open(sitting.results, 'a') as file:
        file.write('{"item": "cut')  # as a full disk or a lost machine leaves it
    status, output = sitting.run()
    expect(status == 0 and ', 0 left' in output, output)
    with open(sitting.results) as file:
        lines = [json.loads(line) for line in file if 'cut' not in line]
    counts = {}
    for line in lines:
        if 'begun' in line:
            counts[line['item']] = counts.get(line['item'], 0) + 1
    expect(counts.pop(begun[-1]) == 2 and set(counts.values()) == {1}, f'begun {counts}')
    # An item that was begun twice and has no end stopped the machine: the next one runs.
    with open(sitting.results, 'w') as file:
        file.write('{"part": 1, "item": "device", "begun": 1}\n' * 2)
    status, output = sitting.run('-k', 'device')
    expect(status == 0 and output.startswith('0 items done'), output)
    return f'{len(counts) + 1} items'


def is_alive(process):
    """Whether a process is there, and not only its exit status."""
    try:
        with open(f'/proc/{process}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def check_limits(packs):
    """A tool that hangs is killed after the seconds of its item."""
    found = fakes(os.path.join(packs.folder, 'fakes'))
    sitting = Sitting(packs, 'limits', '--parts=1', PATH=os.path.dirname(found['hanging/nvidia-smi']) + ':' + os.environ['PATH'])
    status, output = sitting.run('-k', 'device', '--item-seconds=2')
    expect(status == 0 and any('does not end within 2 s' in line.get('clocks', '') for line in sitting.lines()), output)
    status, output = sitting.run('-k', 'copies', '--item-seconds=0.001')
    expect(status == 1 and 'dpc-bench-device does not end within 0 s' in output, output)
    return '2 items'


def check_missing(packs):
    """What the machine lacks is skipped with a line."""
    sitting = Sitting(packs, 'missing', '--torch=/bin/false', PATH='/usr/bin:/bin')
    status, output = sitting.run('--parts=6,7,8')
    ends = sitting.ends()
    expect(status == 0 and ends and all(end['ended'] == 'skipped' for end in ends.values()), output)
    for why in '/bin/false has no PyTorch', 'ncu is not in PATH', 'compute-sanitizer is not in PATH':
        expect(why in output, output)
    return f'{len(ends)} items'


def check_foretold(packs):
    """The table of a pack has what is foretold."""
    table = print_table(packs, packs.get())
    expect(re.search(r'^\| GPT-2 124M, bf16.* \| \d+\.\d+ ms \| not measured \|$', table, re.M), table)
    return '1 table'


TESTS = [('all', check_all), ('resumed', check_resumed), ('limits', check_limits), ('missing', check_missing), ('foretold', check_foretold)]
