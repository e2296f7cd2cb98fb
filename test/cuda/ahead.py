"""Steps that are enqueued ahead of the host, the events that order them, and the priorities of collectives."""
import glob
import json
import os
import re
import signal
import subprocess
import time

from runs import compile_cuda, counts_of, interp, np, read_run, train

MISSING_STEPS = 6
# What runs decide between two steps: exit code, words of what they print, flags, precision.
MLP_DATA = os.path.join(interp.MODELS, 'mlp', 'data.npz')
DECISIONS = [
    ('patience', 'mlp', 0, 'without a better', ['--steps=40', '--eval-data=' + MLP_DATA, '--eval-every=3', '--best=loss', '--patience=1', '--lr=3']),
    ('checkpoints', 'mlp', 0, '', ['--steps=11', '--checkpoint-every=3', '--check-state=4', '--eval-data=' + MLP_DATA, '--eval-every=5']),
    ('a loss that is NaN', 'mlp', 4, 'is NaN', ['--steps=40', '--lr=1e38'], 'f32'),
    ('a loss scale that is too small', 'mlp', 4, 'the loss scale fell below', ['--steps=60'], 'f16', lambda runner: huge_inputs(runner)),
    ('a bad batch', 'gpt2', 1, 'value 32767', ['--steps=20'], 'f64', lambda runner: bad_token(runner)),
]
BAD_TOKEN = 730  # of the second rank, if there are two


def check_priorities(runner, case):
    """In the graph of a step, the nodes of collectives have the highest priority, and all others the lowest."""
    stem = compile_cuda(runner, case, mesh='data=2')
    counts = counts_of(runner, case, 'priorities', stem, 4)
    sums, launches = counts['nccl-captured'], counts['nodes-of-priority:0']
    if not sums or counts.get('nodes-of-priority:-5') != 4 * sums or launches < 4 * sums:
        raise interp.Failed(f'of {sums} captured operations: {counts}')
    return f'{sums} operations, {launches // 4} other nodes'


def check_ahead(runner, case, mesh):
    """The device has each step before the one before it is done, unless --run-ahead=off; both give the same bytes."""
    stem, ranks = compile_cuda(runner, case, mesh=mesh), 2 if mesh else 1
    want = read_run(train(runner, case, stem, 'ahead.none', interp.STEPS, '--run-ahead=off'))
    for order in 'async', 'lazy', 'lazy-newest':
        if read_run(train(runner, case, stem, f'ahead.{order}', interp.STEPS, DPC_EMU_STREAM=order, DPC_EMU_JITTER_US='500')) != want:
            raise interp.Failed(f'{order}: another result')
    # Lazy devices work only when the host waits for them. Ranks that wait for each other do so too.
    lazy = {'DPC_EMU_STREAM': 'lazy', **({} if mesh else {'DPC_EMU_GRACE_MS': '60000'})}
    for flags, least, most in ((), 1, interp.STEPS - 1), (('--run-ahead=off',), 0, 0), (('--cuda-graph=off',), 0, 0):
        ahead = counts_of(runner, case, '.'.join(['ahead', *flags]), stem, interp.STEPS, *flags, **lazy).get('graphs-ahead', 0) / ranks
        if not (least if mesh else most) <= ahead <= most:
            raise interp.Failed(f'{flags}: {ahead} steps enqueued ahead, not {most}')
    return 'the same bytes'


def outcome_of(runner, case, stem, tag, code, flags, data=None, act=None):
    """All that a run leaves but its times: what it prints, its log, its parameters, its checkpoints. `act` gets the process that
    runs, when it has written a line of the log. The device is lazy, so each step that may be enqueued ahead is."""
    out = f'{stem}.{tag}'
    command = [os.path.join(runner.tools, 'dpc-run'), stem, '--data=' + (data or os.path.join(interp.MODELS, case, 'data.npz')),
               '--no-shuffle', f'--log={out}.jsonl', f'--save-params={out}.safetensors', f'--checkpoint={out}.checkpoint', *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, 'DPC_EMU_STREAM': 'lazy', 'DPC_EMU_COUNT': out + '.counts'}) as run:
        while act and run.poll() is None and not (os.path.exists(out + '.jsonl') and os.path.getsize(out + '.jsonl')):
            time.sleep(0.02)
        if act:
            act(run)
        printed, _ = run.communicate(timeout=120)
    if run.returncode != code or not os.path.exists(out + '.counts'):
        raise interp.Failed(f'{tag}: exit {run.returncode}, not {code}: {printed[-300:]}')
    with open(out + '.jsonl') as lines:
        log = [{name: value for name, value in json.loads(line).items() if name not in ('seconds', 'samples_per_second', 'time')}
               for line in lines]
    kept = {}
    for file in sorted(glob.glob(f'{out}.safetensors') + glob.glob(f'{out}.checkpoint/**/state-*', recursive=True)):
        with open(file, 'rb') as content:
            kept[file[len(out):]] = content.read()
    said = [line.replace(out, 'OUT') for line in printed.splitlines()
            if re.match(r'note|error|warning|stopped|interrupted|kept|eval', line)]
    with open(out + '.counts') as lines:
        isAhead = any(line.split()[1] == 'graphs-ahead' for line in lines)
    if isAhead == ('--run-ahead=off' in flags):
        raise interp.Failed(f'{tag}: {"a" if isAhead else "no"} step was enqueued ahead')
    return said, log, kept


def check_decisions(runner, case, mesh, what, code, words, flags, precision='f64', data=None):
    """Where a run decides something between two steps, it leaves the same as a run that does not enqueue steps ahead."""
    stem = compile_cuda(runner, case, mesh=mesh, precision=precision)
    if callable(data):
        data = data(runner)
    both = [outcome_of(runner, case, stem, f'{what}.{ahead}', code, [*flags, '--run-ahead=' + ahead], data) for ahead in ('off', 'on')]
    for part, off, on in zip(('printed', 'log', 'files'), *both):
        if off != on:
            raise interp.Failed(f'{part}: ' + (f'{sorted(name for name in {*off, *on} if off.get(name) != on.get(name))}'
                                               if part == 'files' else f'{off} and {on}')[:600])
    if not any(words in line for line in ['', *both[1][0]]):
        raise interp.Failed(f'{words!r} is not in {both[1][0]}')
    return f'{len(both[1][1])} steps, {len(both[1][2])} files'


def check_interrupt(runner, case, mesh):
    """A run that gets SIGTERM ends after a step whose state it keeps, and names that step."""
    stem = compile_cuda(runner, case, mesh=mesh)
    said, log, kept = outcome_of(runner, case, stem, 'interrupt', 130, ['--steps=100000'],
                                 act=lambda run: run.send_signal(signal.SIGTERM))
    last = log[-1]['step']
    if not any(f'interrupted after step {last}, checkpoint written' in line for line in said):
        raise interp.Failed(f'the log ends at step {last}, printed {said}')
    want = outcome_of(runner, case, stem, 'uninterrupted', 0, [f'--steps={last}', '--run-ahead=off'])
    if {name: content for name, content in want[2].items() if 'checkpoint' in name} != kept or want[1] != log:
        raise interp.Failed(f'another state or log than that of {last} steps')
    return f'step {last}'


def huge_inputs(runner):
    """The data of mlp with inputs that overflow in 16 bits."""
    path = os.path.join(runner.folder, 'huge.npz')
    data = dict(np.load(MLP_DATA))
    np.savez(path, **{**data, 'x': data['x'] * np.float32(1e20)})
    return path


def bad_token(runner):
    """Tokens that are more than what a run checks before the first step. One of the sixth batch is no token."""
    path = os.path.join(runner.folder, 'bad.tokens')
    with open(path, 'wb') as file:
        file.truncate((1 << 30) + (1 << 20))
        file.seek(2 * BAD_TOKEN)
        file.write(b'\xff\x7f')
    return f'tokens:{path}'


def check_missing(runner, case, mesh, graph, orders):
    """A run that does not wait for one of its events fails or gives another result in one of `orders`, for each event."""
    stem = compile_cuda(runner, case, mesh=mesh)
    flags, ranks = ['--cuda-graph=' + graph, '--timeout=10'], 2 if mesh else 1
    count = counts_of(runner, case, f'missing.count.{graph}', stem, MISSING_STEPS, *flags)['cuEventCreate'] // ranks
    want = read_run(train(runner, case, stem, f'missing.{graph}', MISSING_STEPS, *flags))

    def differs(event, order):
        try:
            return read_run(train(runner, case, stem, f'missing.{graph}.{event}', MISSING_STEPS, *flags, DPC_EMU_DROP_EVENT=str(event),
                                  DPC_EMU_STREAM=order, DPC_EMU_JITTER_US='3000')) != want
        except interp.Failed:
            return True
    if any(differs(0, order) for order in orders):
        raise interp.Failed('another result with all events')
    # Without graphs no step is enqueued ahead, and nothing waits for the first event, that of uploads.
    for event in range(1 if graph == 'on' else 2, count + 1):
        if not any(differs(event, order) for order in orders):
            raise interp.Failed(f'nothing shows that event {event} of {count} is not waited for')
    return f'{count} events'


def tests(runner):
    for case, mesh in ('mlp', ''), ('bn_cnn', ''), ('mlp', 'data=2'):
        yield f'ahead, {case} {mesh or "one rank"}', check_ahead, (case, mesh)
    for mesh in '', 'data=2':
        for what, case, *others in DECISIONS:
            yield f'ahead, {what} {mesh or "one rank"}', check_decisions, (case, mesh, what, *others)
        yield f'ahead, an interrupt {mesh or "one rank"}', check_interrupt, ('mlp', mesh)
        for graph, orders in ('on', ['lazy-newest']), ('off', ['lazy-newest', 'async']):
            yield f'missing events {mesh or "one rank"} graph {graph}', check_missing, ('mlp', mesh, graph, orders)
    yield 'ahead, priorities of collectives', check_priorities, ('mlp',)
