"""Products of matrices that cuBLASLt makes, and what programs do where it is missing."""
import json
import os
import re
import shlex
import shutil
import subprocess

import onnx
from onnx import helper

from endings import check_ending
from runs import COMMS, LIBRARY, TOLERANCES, compare, compile_cuda, explain_launches, interp, np, only_driver, read_counts, read_run, train
from training import check_narrow, check_training

# Those with products that the library makes.
PRODUCTS = 'mlp', 'gpt2', 'llama', 'llama3h', 'lstm'
# Products of 16-bit factors by the library: case, mesh, type.
WIDE = [('gpt2', '', 'bf16'), ('gpt2', 'model=2', 'bf16'), ('gpt2', 'data=2', 'f16')]
# Flags of a model with rows that are padded.
ODD_ROWS = [['--precision=bf16'], ['--precision=tf32'], ['--precision=bf16', '--mesh=model=2'],
            ['--precision=bf16', '--mesh=data=2', '--zero=3'], ['--precision=bf16', '--microbatches=2'],
            ['--precision=bf16', '--remat=full'], ['--precision=bf16', '--mesh=pipe=2', '--microbatches=2'],
            ['--precision=bf16', '--mesh=data=2', '--grad-reduce=bf16']]


def check_library(runner, case, microbatches, precision, want):
    """Products by the library: the same result, by so many calls a step."""
    calls = []
    for steps in 1, 2:
        file = os.path.join(runner.folder, f'{case}.{microbatches}.{precision}.{steps}.products')
        stem = compile_cuda(runner, case, microbatches, precision, extra=LIBRARY)
        train(runner, case, stem, f'products.{steps}', steps, '--cuda-graph=off', '--nan=warn', DPC_EMU_COUNT=file,
              DPC_EMU_BLOCKS='1')
        calls.append(read_counts(file)[0].get('cublasLtMatmul', 0))
    if calls[1] == calls[0] and case in PRODUCTS:
        raise interp.Failed('the library makes no product')
    errors = check_training(runner, case, microbatches, precision, want, LIBRARY)
    return f'{calls[1] - calls[0]} products, losses %.1e, state %.1e' % errors


def check_no_library(runner, case, want):
    """Kernels make the products where there is no library, and the user hears of it once."""
    notes = []
    result = check_training(runner, case, 1, 'f64', want, LIBRARY, notes, DPC_CUDA_LIBRARIES=only_driver(runner))
    said = [line for line in notes[0].splitlines() if 'products of matrices are made by kernels: cuBLASLt' in line]
    if len(said) != 1:
        raise interp.Failed(f'printed {notes[0]!r}')
    return result


def check_second_without(runner, case, want):
    """Where one rank has no library kernels make the products of all, and the first rank says why."""
    stem = compile_cuda(runner, case, mesh='data=2', extra=LIBRARY)
    with open(stem + '.second-without', 'w') as script:
        script.write(f'#!/bin/sh\n[ "$RANK" = 1 ] && export DPC_CUDA_LIBRARIES={shlex.quote(only_driver(runner))}\nexec {stem} "$@"\n')
    os.chmod(script.name, 0o755)
    notes = []
    losses, state = train(runner, case, script.name, 'second', interp.STEPS, '--comm=local', notes=notes)
    said = [line for line in notes[0].splitlines() if 'made by kernels: rank 1 has no cuBLASLt' in line]
    if len(said) != 1:
        raise interp.Failed(f'printed {notes[0]!r}')
    return 'losses %.1e, state %.1e' % compare(losses, state, want)


def check_library16(runner, case, mesh, precision):
    """The library makes all products of 16-bit factors, those with results of f32 too; where it is missing, kernels do."""
    section = explain_launches(runner, f'{case}.{precision}.{mesh}', os.path.join(interp.MODELS, case, 'model.onnx'),
                               *interp.CASES[case][0], '--precision=' + precision, *LIBRARY, *(['--mesh=' + mesh] if mesh else []))
    made = re.search(r'products of matrices: (\d+) by cuBLASLt where it is there, (\d+) by kernels', section)
    if not made or made[1] == '0' or made[2] != '0':
        raise interp.Failed(section)
    result = check_narrow(runner, case, mesh, precision, LIBRARY)
    # Kernels and the library add the same terms in other orders.
    stem = compile_cuda(runner, case, mesh=mesh, precision=precision, extra=LIBRARY)
    flags = ['--comm=local'] if mesh else []
    by_library, _ = train(runner, case, stem, 'library16', 2, *flags)
    by_kernels, _ = train(runner, case, stem, 'kernels16', 2, *flags, DPC_CUDA_LIBRARIES=only_driver(runner))
    error = interp.check_losses(np.array(by_kernels), np.array(by_library), 1e-2)
    return f'{made[1]} products, {result}, kernels off by {error:.1e}'


def odd_rows_model(runner):
    """A model whose classes fill no whole piece of 16 bytes, in a file with data for three steps."""
    width, classes, rows, random = 160, 203, 128, np.random.default_rng(7)
    stem = os.path.join(runner.folder, 'odd_rows')
    weights = {'table': (classes, width), 'hidden': (width, width), 'bias': (width,)}
    nodes = [helper.make_node('Gather', ['table', 'ids'], ['x']), helper.make_node('MatMul', ['x', 'hidden'], ['h']),
             helper.make_node('Add', ['h', 'bias'], ['b']), helper.make_node('Tanh', ['b'], ['t']),
             helper.make_node('Transpose', ['table'], ['turned'], perm=[1, 0]),
             helper.make_node('MatMul', ['t', 'turned'], ['logits'], name='head')]
    onnx.save(helper.make_model(helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info('ids', onnx.TensorProto.INT64, [rows])],
        [helper.make_tensor_value_info('logits', onnx.TensorProto.FLOAT, [rows, classes])],
        [helper.make_tensor(name, onnx.TensorProto.FLOAT, shape, random.normal(0, 0.2, shape).ravel())
         for name, shape in weights.items()]), opset_imports=[helper.make_opsetid('', 17)]), stem + '.onnx')
    np.savez(stem + '.npz', ids=random.integers(0, classes, (3 * rows,)), label=random.integers(0, classes, (3 * rows,)))
    return stem


def check_odd_rows(runner, flags):
    """Rows of no whole piece are padded: the library gets aligned ones, and losses stay those of the CPU's program."""
    stem = odd_rows_model(runner)
    losses = {}
    # A CPU has no tf32.
    for_cpu = [flag for flag in flags if flag != '--precision=tf32']
    for name, own in (('cpu', for_cpu), ('cuda', [*flags, '--target=cuda', '--ptxas=off', *LIBRARY])):
        out = f'{stem}.{name}.' + '.'.join(flags)
        command = [os.path.join(runner.tools, 'dpc-compile'), stem + '.onnx', '-o', out, '--loss=cross-entropy',
                   '--optimizer=adamw,lr=0.01', *own]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if run.returncode:
            raise interp.Failed(run.stderr[-300:])
        run = subprocess.run([os.path.join(runner.tools, 'dpc-run'), out, f'--data={stem}.npz', '--no-shuffle', '--steps=6',
                              f'--log={out}.jsonl'], capture_output=True, text=True, timeout=300)
        if run.returncode:
            raise interp.Failed(run.stderr[-300:])
        with open(out + '.jsonl') as log:
            losses[name] = np.array([json.loads(line)['loss'] for line in log])
    text = subprocess.run([*command, '--stop-after=exec'], capture_output=True, text=True, timeout=300, check=True).stdout
    if not text:
        with open(out) as file:
            text = file.read()
    calls = re.findall(r'<product \{type = (\w+), result = (\w+), .*?\}\}', text)
    strides = [int(stride) for call in re.findall(r'<product \{.*?\}\}', text) for stride in re.findall(r'stride = (\d+)', call)]
    pieces = 4 if '--precision=tf32' in flags else 8
    if not calls or any(stride % pieces for stride in strides):
        raise interp.Failed(f'strides {strides}')
    if pieces == 8 and ('bf16', 'f32') not in calls:
        raise interp.Failed(f'no product of bf16 factors with results of f32: {calls}')
    return f'{len(calls)} products, losses %.1e' % interp.check_losses(losses['cuda'], losses['cpu'], 5e-4)


def check_tuning(runner, case, mesh, comm):
    """Rank 0 measures once, the fastest algorithm is taken by all ranks, and later runs measure nothing."""
    stem = compile_cuda(runner, case, mesh=mesh, extra=LIBRARY)
    flags = ['--comm=' + comm] if comm else []
    file = f'{stem}.{comm}.tuned'

    def run(tag, *more, **variables):
        counts, notes = f'{stem}.{comm}.{tag}.counts', []
        losses, state = train(runner, case, stem, f'tuned.{comm}.{tag}', 3, '--cuda-graph=off', *flags, *more, notes=notes,
                              DPC_EMU_COUNT=counts, **variables)
        calls = read_counts(counts)[0].get('cublasLtMatmul', 0)
        with open(state, 'rb') as content:
            return losses, content.read(), calls, notes[0]

    plain = run('plain')
    measured = run('measured', '--tune=' + file, DPC_EMU_LT_SLOW='0')
    with open(file) as lines:
        kept = [line.split('\t') for line in lines.read().splitlines()[1:]]
    known = run('known', '--tune=' + file)
    for what, (losses, state, *_) in (('measured', measured), ('known', known)):
        if (losses, state) != plain[:2]:
            raise interp.Failed(f'{what}: another result')
    # Three algorithms, each four times.
    if not kept or measured[2] - plain[2] != 12 * len(kept) or known[2] != plain[2]:
        raise interp.Failed(f'{len(kept)} products, products made {plain[2]}, {measured[2]}, {known[2]} times')
    if any(int.from_bytes(bytes.fromhex(fields[4])[48:56], 'little') == 0 for fields in kept):
        raise interp.Failed('the slow algorithm was taken')
    for note, (*_, printed) in ((f'--tune: {len(kept)} of {len(kept)} products measured', measured),
                                (f'{file} has all {len(kept)} products', known)):
        if printed.count(note) != 1:
            raise interp.Failed(f'printed {printed!r}, not {note!r}')
    with open(file, 'a') as damaged:
        damaged.write('nonsense\n')
    data = os.path.join(interp.MODELS, case, 'data.npz')
    refused = subprocess.run([os.path.join(runner.tools, 'dpc-run'), stem, '--data=' + data, '--steps=1', '--tune=' + file, *flags],
                             capture_output=True, text=True, timeout=120)
    want = f'{file}: line {len(kept) + 2} is no product'
    if refused.returncode != 1 or refused.stderr.count('error') != 1 or want not in refused.stderr:
        raise interp.Failed(f'exit {refused.returncode}, printed {refused.stderr!r}')
    return f'{len(kept)} products'


def check_packages(runner, case):
    """NCCL and cuBLASLt of Python packages, which a note names once; a folder that the user names is the only one."""
    nvidia = os.path.join(runner.folder, 'venv', 'lib', 'python3.11', 'site-packages', 'nvidia')
    hidden = os.path.join(runner.folder, 'hidden')
    for package, name in ('nccl', 'libnccl.so.2'), ('cu13', 'libcublasLt.so.13'), ('', 'libcublasLt.so.12'):
        os.makedirs(os.path.join(hidden, package), exist_ok=True)
        with open(os.path.join(hidden, name), 'w') as file: # hides one of the machine
            file.write('no library')
        if package:
            os.makedirs(os.path.join(nvidia, package, 'lib'))
            shutil.copy(os.path.join(os.environ['DPC_CUDA_LIBRARIES'], name), os.path.join(nvidia, package, 'lib'))
    stem = compile_cuda(runner, case, mesh='data=2', extra=LIBRARY)
    want, notes = read_run(train(runner, case, stem, 'plain', 3)), []
    variables = {'LD_LIBRARY_PATH': f'{only_driver(runner)}:{hidden}', 'VIRTUAL_ENV': os.path.join(runner.folder, 'venv')}
    got = read_run(train(runner, case, stem, 'packages', 3, notes=notes, DPC_CUDA_LIBRARIES='', **variables))
    said = [line for line in notes[0].splitlines() if nvidia in line]
    if got != want or said != [f'note: NCCL is libnccl.so.2 of {nvidia}/nccl/lib',
                               f'note: cuBLASLt is libcublasLt.so.13 of {nvidia}/cu13/lib']:
        raise interp.Failed(f'{"the same" if got == want else "another"} result, printed {notes[0]!r}')
    return check_ending(runner, case, [], {'DPC_CUDA_LIBRARIES': only_driver(runner), **variables}, 1,
                        ['NCCL is not there', '--comm=local'])


def tests(runner):
    cases = [(case, 1, precision) for case in interp.CASES for precision in TOLERANCES] + [('gpt2', 2, 'f64')]
    for case, microbatches, precision in cases:
        yield (f'{case} one rank {microbatches} microbatches {precision} library', check_library,
               (case, microbatches, precision, runner.want(case, microbatches)))
    yield 'mlp one rank, no library', check_no_library, ('mlp', runner.want('mlp'))
    yield 'gpt2 ranks, no library on the second', check_second_without, ('gpt2', runner.want('gpt2'))
    for case, mesh, precision in WIDE:
        yield f'{case} {mesh or "one rank"} {precision} library16', check_library16, (case, mesh, precision)
    for flags in ODD_ROWS:
        yield ' '.join(['odd rows', *(flag.lstrip('-') for flag in flags), 'library16']), check_odd_rows, (flags,)
    yield 'one rank, tuned', check_tuning, ('mlp', '', '')
    for comm in COMMS:
        yield f'ranks, tuned {comm}', check_tuning, ('gpt2', 'data=2', comm)
    yield 'ranks, libraries of Python packages', check_packages, ('gpt2',)
