"""The kernels of programs: their launches, their code, and how well they use the device."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper

from runs import HERE, LIBRARY, ROOT, compile_cuda, explain_launches, interp, only_driver, read_counts, read_run, train

# Rows of scripts/check-kernels that the kernels of a large model hold: model, precision, rows.
BARS = [('gpt2_124m', 'f32', '1,2,5,6,8,9'), ('gpt2_124m', 'tf32', '1,2,5,6,7,8,9'), ('gpt2_124m', 'bf16', '1,2,5,6,7,8,9')]
# Bytes per step outside products, which row 5 judges.
BYTES = {'f32': '40GB', 'tf32': '40GB', 'bf16': '31GB'}
# Launches per step, which row 6 judges.
LAUNCHES = {'gpt2_124m': 450, 'resnet50': 800}
NEED_MACHINE_CODE = '1', '7', '8'
LONG_BARS = [('resnet50', precision, '1,6') for precision in ('f32', 'tf32', 'bf16')]


def launches_of(runner, case):
    """Launches of kernels in a step, by the launch tables of the program's last level."""
    out = os.path.join(runner.folder, case + '.exec.mlir')
    runner.tool('dpc-compile', os.path.join(interp.MODELS, case, 'model.onnx'), '-o', out, '--precision=f64',
                *interp.CASES[case][0], '--target=cuda', '--stop-after=exec')
    with open(out) as file:
        text = file.read()
    grids = {name: attributes.count('#exec.grid<') for name, attributes in
             re.findall(r'func\.func private @([\w.]+)\(.*?attributes \{(.*)', text)}
    functions = re.findall(r'exec\.function @\S+ piece \d+ of @step \{(.*?)\n  \}', text, re.S)
    return sum(grids[name] for body in functions for name in re.findall(r'exec\.launch @([\w.]+)', body))


def check_launches(launches, number, most=None):
    """There is a line per kernel that ran, with numbers that agree with each other."""
    if sorted(launch['number'] for launch in launches) != list(range(1, number + 1)):
        raise interp.Failed(f'{len(launches)} lines of launches for {number} kernels')
    for launch in launches:
        if not (launch['counted'] == min(launch['blocks'], most or launch['blocks']) and launch['lines'] >= launch['least_lines'] > 0 and
                launch['wavefronts'] >= launch['least_wavefronts'] and
                launch['requested'] == sum(launch['bytes_by_width'].values()) and
                all(launch[name] >= sum(site.get(name, 0) for site in launch['sites'])
                    for name in ('lines', 'least_lines', 'wavefronts', 'least_wavefronts'))):
            raise interp.Failed(f'the numbers of a launch do not fit: {launch}')


def check_no_lone(runner):
    """No thread makes all of an op in any model; where one does, --explain says which."""
    found = []
    for case in interp.CASES:
        section = explain_launches(runner, case, os.path.join(interp.MODELS, case, 'model.onnx'), *interp.CASES[case][0])
        if 'one thread' in section:
            raise interp.Failed(f'{case}: {section}')
        found.append(re.search(r'(\d[\d,]*) launches', section)[1])
    model = os.path.join(runner.folder, 'top_k.onnx')
    onnx.save(helper.make_model(helper.make_graph(
        [helper.make_node('TopK', ['x', 'k'], ['v', 'i'], name='the_few')], 'g',
        [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [1, 20])],
        [helper.make_tensor_value_info('v', onnx.TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor('k', onnx.TensorProto.INT64, [1], [3])]), opset_imports=[helper.make_opsetid('', 17)]), model)
    section = explain_launches(runner, 'top_k', model)
    if not re.search(r'one thread makes all of these:\n.*\n  kernel\.\d+ +the_few +1\n', section):
        raise interp.Failed(section)
    return f"{', '.join(found)} launches"


def check_accesses(runner, case):
    """bench/accesses.py counts two blocks of each launch, and says how much all launches move."""
    folder = os.path.join(runner.folder, case + '.accesses')
    run = subprocess.run([sys.executable, os.path.join(ROOT, 'bench', 'accesses.py'), '--blocks=2', '--keep=' + folder,
                          os.path.join(interp.MODELS, case, 'model.onnx'), *interp.CASES[case][0]],
                         capture_output=True, text=True, env={**os.environ, 'DPC_BIN': runner.tools}, timeout=300)
    if run.returncode:
        raise interp.Failed(f'exit {run.returncode}: {run.stderr.strip()[-300:]}')
    calls, launches = read_counts(os.path.join(folder, 'counts'))
    check_launches(launches, calls['kernel'], most=2)
    if all(launch['counted'] == launch['blocks'] for launch in launches):
        raise interp.Failed('no launch has more than two blocks')
    moved = sum(launch['lines'] * launch['blocks'] / launch['counted'] for launch in launches) * 128e-9
    row = re.search(r'^ *(\d+) .* ([\d.]+) GB .* all$', run.stdout, re.M)
    if not row or (int(row[1]), row[2]) != (len(launches), f'{moved:.4g}'):
        raise interp.Failed(f'{len(launches)} launches that move {moved} GB, but the table says {run.stdout[:300]}')
    return f'{len(launches)} launches, {moved:.4g} GB'


def count_accesses(runner, name, nodes, x, logits, parameters, *flags):
    """The counts of two blocks of each launch of a step; shapes of the input x, of the logits, and of parameters of zeros."""
    model, folder = (os.path.join(runner.folder, name + end) for end in ('.onnx', ''))
    onnx.save(helper.make_model(helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info('logits', onnx.TensorProto.FLOAT, logits)],
        [helper.make_tensor(of, onnx.TensorProto.FLOAT, shape, np.zeros(np.prod(shape))) for of, shape in parameters.items()]),
        opset_imports=[helper.make_opsetid('', 17)]), model)
    run = subprocess.run([sys.executable, os.path.join(ROOT, 'bench', 'accesses.py'), '--blocks=2', '--keep=' + folder, model,
                          '--loss=cross-entropy', '--optimizer=sgd,lr=0.1', *flags],
                         capture_output=True, text=True, env={**os.environ, 'DPC_BIN': runner.tools}, timeout=300)
    if run.returncode:
        raise interp.Failed(f'exit {run.returncode}: {run.stderr.strip()[-300:]}')
    return read_counts(os.path.join(folder, 'counts'))[1]


def check_rows(runner):
    """The loss and its gradient read long rows of logits once: a block copies its row to shared memory."""
    rows, classes = 128, 16000  # 64 kB: more than a block has without asking
    launches = count_accesses(runner, 'rows', [helper.make_node('MatMul', ['x', 'w'], ['logits'])], [rows, 4], [rows, classes],
                              {'w': [4, classes]})
    losses = [launch for launch in launches if 'cross_entropy' in launch['kernel'] and launch['blocks'] == rows]
    if not losses:
        raise interp.Failed(f"no launch computes the loss: {[launch['kernel'] for launch in launches]}")
    ratio = max(launch['requested'] / launch['counted'] / (2 * 4 * classes) for launch in losses)
    if not ratio < 1.6:  # a row of logits, one of gradients, and a number that all elements read from the cache
        raise interp.Failed(f'a block requests {ratio:.3f} times the bytes of its rows')
    return f'{ratio:.3f} times the bytes of rows'


def check_column_sums(runner):
    """Threads that add to eight neighbouring columns in shared memory, for the gradient of a bias in bf16, meet in no bank."""
    rows, columns = 2048, 1024
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['h']), helper.make_node('Add', ['h', 'b'], ['biased']),
             helper.make_node('Relu', ['biased'], ['y']), helper.make_node('MatMul', ['y', 'v'], ['logits'])]
    launches = count_accesses(runner, 'column_sums', nodes, [rows, 64], [rows, 64],
                              {'w': [64, columns], 'b': [columns], 'v': [columns, 64]}, '--precision=bf16')
    sums = [launch for launch in launches if 'reduce' in launch['kernel'] and launch['blocks'] == rows // 4]
    if not sums:
        raise interp.Failed(f"no launch computes the sums: {[launch['kernel'] for launch in launches]}")
    ratio = max(launch['wavefronts'] / launch['least_wavefronts'] for launch in sums)
    if not ratio < 1.1:
        raise interp.Failed(f'{ratio:.3f} times the fewest wavefronts')
    return f'{ratio:.3f} times the fewest wavefronts'


def check_counts(runner, case):
    """A step launches what the tables say, and neither allocates nor loads; with graphs it is one launch."""
    stem = compile_cuda(runner, case)
    wanted = launches_of(runner, case)
    counts = {}
    for graph in 'off', 'on':
        for steps in 2, 10:
            file = os.path.join(runner.folder, f'{case}.{graph}.{steps}.counts')
            train(runner, case, stem, f'counts.{graph}.{steps}', steps, '--cuda-graph=' + graph, DPC_EMU_COUNT=file)
            counts[graph, steps], launches = read_counts(file)
            check_launches(launches, counts[graph, steps]['kernel'])
    def more(graph, name):
        return counts[graph, 10].get(name, 0) - counts[graph, 2].get(name, 0)
    for graph in 'off', 'on':
        for name in 'cuMemAlloc', 'cuMemHostAlloc', 'cuModuleLoadData', 'cuGraphInstantiate':
            if more(graph, name):
                raise interp.Failed(f'{more(graph, name)} calls of {name} in 8 steps')
        if more(graph, 'kernel') != 8 * wanted:
            raise interp.Failed(f'{more(graph, "kernel")} kernels in 8 steps, not 8 x {wanted}')
    if more('off', 'cuLaunchKernel') != 8 * wanted or more('on', 'cuLaunchKernel') or more('on', 'cuGraphLaunch') != 8:
        raise interp.Failed(f'launches of 8 steps: {counts}')
    return f'{wanted} launches a step'


def saved(runner, case, mesh=''):
    """A program, its folder of --save-kernels, and the lines of launches.jsonl."""
    folder = os.path.join(runner.folder, f'{case}.{mesh}.kernels')
    stem = runner.program(case, mesh, tag='.saved', precision='f64',
                          extra=('--target=cuda', '--ptxas=off', *LIBRARY, '--save-kernels=' + folder))
    with open(os.path.join(folder, 'launches.jsonl')) as lines:
        return stem, folder, [json.loads(line) for line in lines]


def of_step(launches):
    return [launch for launch in launches if launch['entry'] == 'step']


def check_saved_kernels(runner, case):
    """--save-kernels lists the launches of a step in the order of the tables, and has the code of each of them."""
    stem, folder, launches = saved(runner, case)
    step = [launch for launch in of_step(launches) if launch['kind'] in ('kernel', 'call')]
    counts = f'{stem}.saved.counts'
    train(runner, case, stem, 'saved', 1, '--cuda-graph=off', DPC_EMU_COUNT=counts, DPC_CUDA_LIBRARIES=only_driver(runner))
    made = read_counts(counts)[0]['cuLaunchKernel']
    if made != len(step):
        raise interp.Failed(f'{len(step)} lines, but a step launches {made} kernels')
    for launch in launches:
        with open(os.path.join(folder, launch['file'] + '.ptx')) as code:
            entry = re.search(r'\.entry %s\((.*?)\)' % re.escape(launch['kernel']), code.read(), re.S)
        if not entry or entry[1].count('.param') != len(launch['buffers']):
            raise interp.Failed(f'{launch["kernel"]} has {len(launch["buffers"])} buffers in the list, but not in the code')
    return f'{len(step)} launches'


def check_estimates(runner, case):
    """The estimates of launches.jsonl add up to the step that --report plays."""
    launches = of_step(saved(runner, case)[2])
    report = os.path.join(runner.folder, case + '.report.json')
    runner.tool('dpc-compile', os.path.join(interp.MODELS, case, 'model.onnx'), '-o', report + '.mlir', '--stop-after=exec', '--target=cuda',
                *interp.CASES[case][0], '--precision=f64', *LIBRARY, '--report=' + report)
    with open(report) as file:
        step = json.load(file)['step']
    parts = [(launch['kernel'], launch['estimate']['part'], launch['estimate']['parts']) for launch in launches if 'kernel' in launch]
    at = 0
    while at < len(parts):
        if [part[1:] for part in parts[at:at + parts[at][2]]] != [(i, parts[at][2]) for i in range(parts[at][2])]:
            raise interp.Failed(f'launches of one kernel are numbered {parts[at:at + parts[at][2]]}')
        at += parts[at][2]
    total = sum(launch['estimate']['us'] for launch in launches if launch.get('estimate', {}).get('part') == 0) * 1e-6
    if not any(part[2] > 1 for part in parts) or abs(total - step['seconds']) > 1e-3 * step['seconds']:
        raise interp.Failed(f"the estimates of all launches are {total} s, the step is {step['seconds']} s")
    return f'{len(parts)} launches, {total:.3e} s'


def check_profile(runner, case, mesh):
    """--profile has a line per launch of a step, with its own time on the device, without the first step."""
    stem, _, launches = saved(runner, case, mesh)
    launches = of_step(launches)
    file, counts = f'{stem}.times.jsonl', f'{stem}.times.counts'
    steps, kernel_us, ranks = 4, 2000, 2 if mesh else 1
    train(runner, case, stem, 'profile', steps, '--profile=' + file, '--nan=warn', DPC_EMU_KERNEL_US=str(kernel_us), DPC_EMU_COUNT=counts)
    for path in [file, file.replace('.jsonl', '.rank1.jsonl')][:ranks]:
        with open(path) as lines:
            measured = [line for line in map(json.loads, lines) if line['entry'] == 'step']
        own = [line for line in measured if 'function' in line]
        if sorted((line['function'], line['number'], line.get('name', '').split(' ')[0]) for line in own) != sorted(
                (launch['function'], launch['number'], launch.get('name', '')) for launch in launches):
            raise interp.Failed(f'{len(own)} lines for {len(launches)} launches, or others')
        if any(line['runs'] != steps - 1 or not line['least_us'] <= line['us'] for line in measured):
            raise interp.Failed(f'not {steps - 1} runs, or a median below the least')
        kernels = sorted(line['least_us'] for line in own if line['kind'] == 'kernel')
        # A busy host delays some of them. Times from the begin of the step would grow from launch to launch.
        if not kernel_us <= kernels[0] or not kernels[len(kernels) // 2] < 5 * kernel_us:
            raise interp.Failed(f'kernels that take {kernel_us} us took {kernels[0]} to {kernels[-1]}')
        kinds = {line['kind'] for line in measured}
        if not {'kernel', 'library'} <= kinds or ('wait' in kinds) != bool(mesh):
            raise interp.Failed(f'kinds {kinds}')
    # So often the device waited until the host had enqueued a step.
    held = read_counts(counts)[0].get('cuLaunchHostFunc', 0)
    if held != steps * ranks:
        raise interp.Failed(f'{held} steps were held back')
    refused = subprocess.run([os.path.join(runner.tools, 'dpc-run'), stem, '--data=' + os.path.join(interp.MODELS, case, 'data.npz'),
                              '--steps=1', '--profile=' + runner.folder], capture_output=True, text=True, timeout=120)
    if refused.returncode != 5 or f'--profile: {runner.folder}: cannot be written' not in refused.stderr:
        raise interp.Failed(f'exit {refused.returncode}, printed {refused.stderr!r}')
    return f'{len(own)} launches'


def judge_kernels(runner, model, precision, rows):
    """The kernels of a large model hold the bars `rows` of scripts/check-kernels."""
    path, folder = (os.path.join(runner.folder, f'{model}.{precision}{end}') for end in ('.onnx', '.kernels'))
    with gzip.open(os.path.join(HERE, 'models', model + '.onnx.gz')) as packed, open(path, 'wb') as file:
        file.write(packed.read())
    tools = os.path.join(ROOT, '.venv', 'cuda', 'bin')  # scripts/setup
    search = os.environ['PATH'] + ':/usr/local/cuda/bin:' + tools
    if not all(shutil.which(tool, path=search) for tool in ('ptxas', 'cuobjdump', 'nvdisasm')):
        rows = ','.join(row for row in rows.split(',') if row not in NEED_MACHINE_CODE)
    run = subprocess.run([os.path.join(runner.tools, 'dpc-compile'), path, '-o', folder + '.program', '--target=cuda',
                          '--cuda-arch=sm_90', '--params=none', '--loss=cross-entropy', '--optimizer=adamw,lr=1e-3',
                          '--precision=' + precision, '--save-kernels=' + folder], capture_output=True, text=True,
                         env={**os.environ, 'PATH': search}, timeout=600)
    if run.returncode:
        raise interp.Failed(f'exit {run.returncode}: {run.stderr.strip()[-300:]}')
    bars = ['--bytes=' + BYTES[precision]] + [f'--launches={LAUNCHES[model]}'] * (model in LAUNCHES)
    judged = subprocess.run([os.path.join(ROOT, 'scripts', 'check-kernels'), folder, '--rows=' + rows, *bars],
                            capture_output=True, text=True, timeout=600)
    if judged.returncode:
        raise interp.Failed(judged.stdout + judged.stderr)
    return '; '.join(re.findall(r'measured: (.*)', judged.stdout))


def check_code(runner, case):
    """No kernel's code for the host: nothing in the program is called by a kernel's name."""
    stem = compile_cuda(runner, case)
    with open(stem, 'rb') as program:
        content = program.read()
    if b'.visible .entry dpc_kernel_' not in content:
        raise interp.Failed('the program has no PTX')
    names = subprocess.run(['nm', stem], capture_output=True, text=True).stdout
    code = [line for line in names.splitlines() if line.split()[-1].startswith('dpc_kernel_')]
    if code:
        raise interp.Failed('the program has host code of a kernel: ' + code[0])
    return f'{content.count(b".visible .entry dpc_kernel_")} entries'


def fake_ptxas(runner, name, body):
    """A program in the place of NVIDIA's assembler, which not every machine has."""
    path = os.path.join(runner.folder, name)
    with open(path, 'w') as script:
        script.write('#!/bin/sh\n' + body)
    os.chmod(path, 0o755)
    return path


def check_machine_code(runner, case):
    """Machine code of each device lies beside the PTX, which a driver that refuses it gets; --cuda-arch says whose."""
    fake = fake_ptxas(runner, 'ptxas', 'printf "\\177ELF made $1 end" > "$3"\n')
    want = read_run(train(runner, case, compile_cuda(runner, case), 'ptx', 3))
    for arch, made in ('', ('sm_80', 'sm_90')), ('--cuda-arch=sm_90', ('sm_90',)):
        out = os.path.join(runner.folder, f'{case}.code.{arch}')
        runner.tool('dpc-compile', os.path.join(interp.MODELS, case, 'model.onnx'), '-o', out, '--precision=f64',
                    *interp.CASES[case][0], '--target=cuda', '--cache=off', '--ptxas=' + fake, *arch.split())
        with open(out, 'rb') as program:
            content = program.read()
        found = {name: content.count(f'made -arch={name} end'.encode()) for name in ('sm_80', 'sm_90')}
        if any((found[name] > 0) != (name in made) for name in found):
            raise interp.Failed(f'{arch}: machine code {found}')
        if not arch and read_run(train(runner, case, out, 'code', 3)) != want:
            raise interp.Failed('another state with machine code')
    return f'{found["sm_90"]} kernels'


def check_spills(runner, case):
    """A kernel that spills registers is assembled again with more of them, and the code that spills less is taken. A kernel that has
    so many from the start is assembled once."""
    def assemble(name, relaxed):
        """How often each number of spilled bytes is in a program, if `relaxed` bytes are spilled with more registers."""
        fake = fake_ptxas(runner, name, f"""
kernel=$(sed -n 's/.*\\.entry \\([^(]*\\)(.*/\\1/p' "$4" | head -1)
bytes=4
if [ -e "$0.$kernel" ] && grep -q '^[.]minnctapersm 1$' "$4"; then bytes={relaxed}; fi
touch "$0.$kernel"
echo "ptxas info    : Function properties for $kernel" >&2
echo "    8 bytes stack frame, $bytes bytes spill stores, $bytes bytes spill loads" >&2
printf "\\177ELF spills $bytes bytes" > "$3"
""")
        out = os.path.join(runner.folder, f'{case}.spills.{name}')
        runner.tool('dpc-compile', os.path.join(interp.MODELS, case, 'model.onnx'), '-o', out, *interp.CASES[case][0],
                    '--target=cuda', '--cuda-arch=sm_90', '--cache=off', '--ptxas=' + fake)
        with open(out, 'rb') as program:
            content = program.read()
        return [content.count(f'spills {bytes} bytes'.encode()) for bytes in (0, 4, 8)]
    none, better, worse = assemble('none', 4), assemble('better', 0), assemble('worse', 8)
    if none[0] or none[2] or sum(better) != none[1] or not better[0] > better[1] or worse != none:
        raise interp.Failed(f'kernels that spill 0, 4 and 8 bytes: {none}, {better}, {worse}')
    return f'{none[1]} kernels'


def check_assembler_fails(runner, case):
    """What the assembler says is told, with the ONNX node of the kernel."""
    fake = fake_ptxas(runner, 'broken', 'echo "ptxas info    : 0 bytes gmem" >&2\n'
                      'echo "ptxas fatal   : out of registers" >&2\nexit 255\n')
    out = os.path.join(runner.folder, f'{case}.none')
    run = subprocess.run([os.path.join(runner.tools, 'dpc-compile'), os.path.join(interp.MODELS, case, 'model.onnx'),
                          '-o', out, *interp.CASES[case][0], '--target=cuda', '--cache=off', '--ptxas=' + fake],
                         capture_output=True, text=True, timeout=120)
    errors = [line for line in run.stderr.splitlines() if 'error' in line]
    words = 'node ', 'sm_', 'ptxas fatal   : out of registers'
    if run.returncode != 1 or len(errors) != 1 or not all(word in errors[0] for word in words) or os.path.exists(out):
        raise interp.Failed(f'exit {run.returncode}, printed {run.stderr!r}')
    return errors[0]


def tests(runner):
    yield 'no lone launches', check_no_lone, ()
    yield 'launch counts', check_counts, ('mlp',)
    yield 'accesses of some blocks', check_accesses, ('gpt2',)
    yield 'rows in shared memory', check_rows, ()
    yield 'sums over columns in shared memory', check_column_sums, ()
    yield 'saved kernels', check_saved_kernels, ('gpt2',)
    yield 'estimates of saved kernels', check_estimates, ('gpt2',)
    for mesh in '', 'data=2':
        yield f'profile of launches {mesh or "one rank"}', check_profile, ('gpt2', mesh)
    for model, precision, rows in LONG_BARS + BARS if os.environ.get('DPC_LONG') else BARS:
        yield f'kernels of {model} {precision}', judge_kernels, (model, precision, rows)
    yield 'no host code of kernels', check_code, ('mlp',)
    yield 'machine code', check_machine_code, ('mlp',)
    yield 'spills of registers', check_spills, ('mlp',)
    yield 'the assembler fails', check_assembler_fails, ('mlp',)
