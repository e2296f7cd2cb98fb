"""Programs for the target `cuda` and their runs on emulated devices: what all groups of tests share."""
import contextlib
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
loader = importlib.machinery.SourceFileLoader('e2e', os.path.join(HERE, '..', 'e2e', 'run'))
e2e = importlib.util.module_from_spec(importlib.util.spec_from_loader('e2e', loader))
loader.exec_module(e2e)
interp = e2e.interp
import numpy as np

# The first step captures a graph, the later ones repeat it, and each has another batch.
interp.STEPS = 4
# Of losses and of state, relative.
TOLERANCES = {'f64': (1e-10, 1e-10), 'f32': (2e-4, 1e-3)}
# Microbatches: every model with 1, some with more.
MICROBATCHES = {'bn_cnn': 2, 'gpt2': 2}
# Products by the library, wherever it can.
LIBRARY = '--products=library',
# What ranks communicate by.
COMMS = 'nccl', 'local'


class Once:
    """What a function returns, made when it is first asked for. Tests of several threads share it."""

    def __init__(self, function):
        self.function, self.lock, self.made = function, threading.Lock(), []

    def result(self):
        with self.lock:
            if not self.made:
                self.made.append(self.function())
        return self.made[0]


class Runner(interp.Runner):
    """Runs tools, and keeps what several tests need."""

    def __init__(self, tools, folder):
        super().__init__(tools, folder)
        self.kept, self.lock = {}, threading.Lock()

    def once(self, key, function):
        with self.lock:
            return self.kept.setdefault(key, Once(function))

    def want(self, case, microbatches=1):
        """The interpreter's run of a model in f64. Its result() is the losses and the state."""
        return self.once(('want', case, microbatches), lambda: self.train(case, '', microbatches))

    def program(self, case, mesh='', microbatches=1, **others):
        """The file of a program, compiled by compile_program of test/e2e."""
        return self.once(('program', case, mesh, microbatches, repr(others)),
                         lambda: e2e.compile_program(self, case, mesh, microbatches, **others)).result()


def read_counts(file):
    """(calls by name, launches) of a file that DPC_EMU_COUNT names."""
    calls, launches = {}, []
    with open(file) as lines:
        for line in lines:
            first, rest = line.split(maxsplit=1)
            if first == 'launch':
                launches.append(json.loads(rest))
            else:
                name, number = rest.split()
                calls[name] = calls.get(name, 0) + int(number)
    return calls, launches


def compile_cuda(runner, case, microbatches=1, precision='f64', mesh='', extra=()):
    return runner.program(case, mesh, microbatches, tag='.'.join(['.cuda', precision, *extra]),
                               extra=('--target=cuda', '--ptxas=off', *extra), precision=precision)


def train(runner, case, stem, tag, steps, *flags, notes=None, **variables):
    """(losses, file of the state) after `steps` steps, in files of `tag`'s own. What it says goes to `notes`."""
    out = f'{stem}.{tag}'
    data = os.path.join(interp.MODELS, case, 'data.npz')
    command = [os.path.join(runner.tools, 'dpc-run'), stem, '--data=' + data, '--no-shuffle',
               f'--steps={steps}', f'--log={out}.jsonl', f'--save-params={out}.safetensors', *flags]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=300)
    if run.returncode:
        raise interp.Failed(f'{tag}: exit {run.returncode}: {run.stderr.strip()[:300]}')
    if notes is not None:
        notes.append(run.stderr)
    with open(out + '.jsonl') as log:
        losses = [json.loads(line).get('loss') for line in log]  # none if it is not finite
    return losses, out + '.safetensors'


def read_run(run):
    """What a run leaves, to be compared in every byte."""
    losses, state = run
    with open(state, 'rb') as file:
        return losses, file.read()


def compare(losses, state, want, of_losses=1e-10, of_state=1e-10):
    """The errors of a run beside the interpreter's, whose state has moments too. `state` is a file."""
    want_losses, want_state = want.result()
    want_state = {name: value for name, value in want_state.items() if '|' not in name}
    return (interp.check_losses(np.array(losses), want_losses, of_losses),
            interp.check_state(interp.read_safetensors(state), want_state, of_state))


def counts_of(runner, case, tag, stem, steps, *flags, **variables):
    """How often the processes of a run did what, by name."""
    file = f'{stem}.{tag}.counts'
    train(runner, case, stem, tag, steps, *flags, DPC_EMU_COUNT=file, **variables)
    return read_counts(file)[0]


def only_driver(runner):
    """A folder with a driver and no other library."""
    folder = os.path.join(runner.folder, 'driver alone')
    os.makedirs(folder, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.symlink(os.path.join(os.environ['DPC_CUDA_LIBRARIES'], 'libcuda.so.1'), os.path.join(folder, 'libcuda.so.1'))
    return folder


def explain_launches(runner, name, *flags):
    """The section of --explain about launches."""
    out = os.path.join(runner.folder, name + '.explained')
    run = subprocess.run([os.path.join(runner.tools, 'dpc-compile'), *flags, '--target=cuda', '--ptxas=off', '-o', out,
                          '--explain'], capture_output=True, text=True, timeout=300)
    _, title, section = run.stdout.partition('KERNELS ON THE DEVICE\n')
    if run.returncode or not title:
        raise interp.Failed(f'exit {run.returncode}, no word of launches: {run.stderr[-300:]}')
    return section
