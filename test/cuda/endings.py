"""How runs end whose ranks, devices or libraries fail, and what a machine is refused with."""
import os
import signal
import subprocess
import time

from runs import COMMS, compile_cuda, interp, only_driver


def check_ending(runner, case, flags, variables, code, words, act=None):
    """How a run of two ranks ends: its exit code, and one line with `words`, in time. `act` is given the ids of the
    ranks once they train."""
    stem = compile_cuda(runner, case, mesh='data=2')
    log = os.path.join(runner.folder, '.'.join(['ending', str(time.monotonic_ns()), 'jsonl']))
    command = [os.path.join(runner.tools, 'dpc-run'), stem, '--data=' + os.path.join(interp.MODELS, case, 'data.npz'),
               '--steps=100000' if act else '--steps=20', '--log=' + log, *flags]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **variables}) as run:
        if act:
            while run.poll() is None and not (os.path.exists(log) and os.path.getsize(log)):
                time.sleep(0.02)
            children = subprocess.run(['pgrep', '-P', str(run.pid)], capture_output=True, text=True).stdout.split()
            act([int(child) for child in children])
        begin = time.monotonic()
        try:
            _, text = run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            run.kill()
            raise interp.Failed('it hangs')
    lines = [line for line in text.strip().splitlines() if not line.startswith('cuda emulator')]
    if run.returncode != code or len(lines) != 1 or not all(word in lines[0] for word in words):
        raise interp.Failed(f'exit {run.returncode}, printed {text!r}; expected exit {code} and one line with {words}')
    return '%.1f s: %s' % (time.monotonic() - begin, lines[0][:100])


def kill_second(ids):
    os.kill(ids[1], signal.SIGKILL)


def freeze_second(ids):
    os.kill(ids[1], signal.SIGSTOP)


def check_refusal(runner, case, variables, want):
    stem = compile_cuda(runner, case)
    environment = {name: value for name, value in os.environ.items() if not name.startswith('DPC_EMU')}
    environment.update(variables)
    run = subprocess.run([stem, '--data=' + os.path.join(interp.MODELS, case, 'data.npz'), '--steps=1'],
                         capture_output=True, text=True, env=environment, timeout=120)
    lines = run.stderr.strip().splitlines()
    if run.returncode != 1 or len(lines) != 1 or want not in lines[0]:
        raise interp.Failed(f'exit {run.returncode}, printed {run.stderr!r}; expected exit 1 and a line with {want!r}')
    help_text = subprocess.run([stem, '--help'], capture_output=True, text=True, env=environment, timeout=120)
    if help_text.returncode or '--cuda-graph=' not in help_text.stdout:
        raise interp.Failed('--help fails, or does not show --cuda-graph')
    return lines[0]


def tests(runner):
    for what, words, act in ('killed', 'died', kill_second), ('frozen', 'frozen', freeze_second):
        for comm in COMMS:
            for graph in 'off', 'on':
                yield (f'ranks, {what} {comm} graph {graph}', check_ending,
                       ('mlp', ['--comm=' + comm, '--cuda-graph=' + graph], {}, 3, ['rank 1', words], act))
    # The device waits for its collective, the host for the device: neither knows for whom.
    for comm in COMMS:
        yield (f'ranks, frozen {comm} and a short timeout', check_ending,
               ('mlp', ['--comm=' + comm, '--timeout=2'], {}, 3, ['rank 1'], freeze_second))
    kernel_fails = ['rank 1', 'illegal memory access', 'names the kernel']
    for comm in COMMS:
        for graph in 'off', 'on':
            yield (f'ranks, a kernel fails {comm} graph {graph}', check_ending,
                   ('mlp', ['--comm=' + comm, '--cuda-graph=' + graph], {'DPC_EMU_KERNEL_FAIL': '1:70'}, 1, kernel_fails))
    # The device is faster than the host: the fault is the answer of the call after the launch.
    yield ('ranks, a kernel fails at once', check_ending,
           ('mlp', ['--comm=local', '--cuda-graph=off'], {'DPC_EMU_KERNEL_FAIL': '1:70', 'DPC_EMU_STREAM': 'eager'}, 1, kernel_fails))
    for name, case, flags, variables, words in (
            ('NCCL fails', 'mlp', [], {'DPC_EMU_NCCL_FAIL': '1:7'}, ['rank 1', 'NCCL', 'system error']),
            ('too few devices', 'mlp', [], {'DPC_EMU_DEVICES': '1'}, ['ranks 0 and 1 have the same device', '--comm=local']),
            ('a check of too few devices', 'mlp', ['--check'], {'DPC_EMU_DEVICES': '1'},
             ['rank 1', 'has the same device', 'as rank 0', 'NCCL wants one for each']),
            ('a check of too small a device', 'gpt2', ['--check'], {'DPC_EMU_MEMORY_MB': '1'},
             ['its device has', 'of which', 'must stay free for libraries', 'need']),
            ('no NCCL', 'mlp', [], {'DPC_CUDA_LIBRARIES': only_driver(runner)}, ['NCCL is not there', '--comm=local'])):
        yield 'ranks, ' + name, check_ending, (case, flags, variables, 1, words)
    yield 'too small a device', check_refusal, ('gpt2', {'DPC_EMU_MEMORY_MB': '1'}, "of the device's memory, of which")
    yield 'no driver', check_refusal, ('mlp', {'DPC_CUDA_LIBRARIES': runner.folder}, 'the CUDA driver is not there')
