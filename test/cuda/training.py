"""Models trained on one rank, in each precision, beside the interpreter."""
import json
import os

from runs import HERE, LIBRARY, MICROBATCHES, TOLERANCES, compare, compile_cuda, interp, np, train

# Whose products are large enough for matrix units.
TF32_CASES = 'mlp', 'gpt2', 'llama'
# Mixed precision: case, mesh, type, further flags.
NARROW = [('gpt2', '', 'bf16', ()), ('gpt2', 'data=2', 'bf16', ('--zero=3',)), ('bn_cnn', 'data=2', 'f16', ()),
          ('llama', 'model=2', 'bf16', ()), ('lstm', '', 'f16', ()), ('mlp', 'data=2', 'bf16', ('--grad-reduce=bf16',)),
          ('gpt2', 'data=2', 'bf16', ('--microbatches=2', '--zero=2')), ('llama', '', 'bf16', ('--remat=full',)),
          ('gpt2', 'pipe=2', 'bf16', ('--microbatches=2', '--schedule=1f1b')), ('gpt2', '', 'bf16', ('--sums=ordered',)),
          ('llama', 'data=2,model=2', 'bf16', ('--sums=ordered', '--zero=3')),
          ('llama', 'data=2,pipe=2', 'bf16', ('--microbatches=2', '--remat=full', '--grad-reduce=bf16'))]


def check_training(runner, case, microbatches, precision, want, extra=(), notes=None, **variables):
    stem = compile_cuda(runner, case, microbatches, precision, extra=extra)
    tag = '.'.join(['training', *extra, *variables])
    losses, state = train(runner, case, stem, tag, interp.STEPS, notes=notes, **variables)
    return compare(losses, state, want, *TOLERANCES[precision])


def check_step(runner, case):
    """One step from the same state: what the program for the CPU makes of it, to the last digits."""
    want_losses, want_state = train(runner, case, runner.program(case), 'step', 1)
    errors = []
    for extra in (), LIBRARY:
        losses, state = train(runner, case, compile_cuda(runner, case, extra=extra), '.'.join(['step', *extra]), 1)
        errors.append(interp.check_losses(np.array(losses), np.array(want_losses), 1e-12))
        errors.append(interp.check_state(interp.read_safetensors(state), interp.read_safetensors(want_state), 1e-12))
    return max(errors[::2]), max(errors[1::2])


def check_tf32(runner, case, want):
    """Products with rounded factors: as close as their 10 bits let, and no closer."""
    stem = compile_cuda(runner, case, precision='tf32')
    losses, _ = train(runner, case, stem, 'training', interp.STEPS)
    want_losses, _ = want.result()
    error = interp.check_losses(np.array(losses), want_losses, 5e-3)
    if error < 5e-7: # programs in f32 are at most 2e-7 off
        raise interp.Failed('losses off by %.1e only: nothing was rounded' % error)
    return 'losses %.1e' % error


def check_split(runner, case):
    """Products of factors that are sums of two numbers of tf32: as close to f64 as f32 is."""
    stem = compile_cuda(runner, case, precision='tf32x3')
    losses, state = train(runner, case, stem, 'training', interp.STEPS)
    return compare(losses, state, runner.want(case), *TOLERANCES['f32'])


def check_narrow(runner, case, mesh, precision, extra=()):
    """In mixed precision: as far off f64 as PyTorch's autocast is, or where that is not recorded, as the CPU's program."""
    losses, _ = train(runner, case, compile_cuda(runner, case, mesh=mesh, precision=precision, extra=extra), precision,
                      interp.STEPS)
    with open(os.path.join(HERE, '..', 'precision', 'losses.json')) as file:
        recorded = json.load(file).get(case)
    if recorded:
        # One run, where test/precision/run takes the median of several.
        want = recorded['f64'][0][:interp.STEPS]
        allowed = 3 * np.max(np.abs(np.subtract(recorded[precision], recorded['f64'])))
    else:
        stem = runner.program(case, tag='.cpu.' + precision, extra=extra, precision=precision)
        want, allowed = train(runner, case, stem, 'cpu', interp.STEPS)[0], 2e-2
    error = np.max(np.abs(np.subtract(losses, want)))
    if not error <= allowed:
        raise interp.Failed(f'losses off by {error:.1e}, allowed {allowed:.1e}')
    return f'losses off by {error:.1e}, allowed {allowed:.1e}'


def tests(runner):
    for case in interp.CASES:
        for microbatches in sorted({1, MICROBATCHES.get(case, 1)}):
            for precision in TOLERANCES:
                yield (f'{case} one rank {microbatches} microbatches {precision}', check_training,
                       (case, microbatches, precision, runner.want(case, microbatches)))
    for case in interp.CASES:
        yield f'{case} one rank, one step', check_step, (case,)
    for case in TF32_CASES:
        yield f'{case} one rank tf32', check_tf32, (case, runner.want(case))
        yield f'{case} one rank tf32x3', check_split, (case,)
    for case, mesh, precision, flags in NARROW:
        name = ' '.join([f'{case} {mesh or "one rank"} {precision}', *(flag.lstrip('-') for flag in flags)])
        yield name, check_narrow, (case, mesh, precision, flags)
