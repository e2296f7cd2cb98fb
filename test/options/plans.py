"""Plans as options: --explain prints the plan of a program, and a compile with these options makes the same program."""
import re
import shlex
import subprocess

CROSS = '--loss=cross-entropy'
ADAM, MOMENTUM, ADAMW = '--optimizer=adam,lr=0.01', '--optimizer=momentum,lr=0.05', '--optimizer=adamw,lr=0.002'
MLP = ['mlp', '--shape=x:8x16', CROSS, ADAM]
GPT2 = ['gpt2', CROSS, ADAMW]
UNET = ['unet', '--shape=x:8x3x8x8', '--label-shape=8x8x8', CROSS, MOMENTUM]
DLRM = ['dlrm', '--shape=x:8x4', '--loss=bce-with-logits', ADAM]
LLAMA = ['llama', '--loss=output:loss', ADAMW]
DEEP = ['deep', CROSS, ADAMW]

# The model with its step and target, and the options that choose the plan.
PROGRAMS = [
    (MLP, []),
    (MLP, ['--mesh=data=2', '--zero=0']),
    (MLP, ['--mesh=dp=2,tp=2', '--batch-axes=dp', '--overlap=off']),
    (MLP, ['--mesh=data=2,model=2', '--shard=*weight=model,-', '--recompute=off']),
    (['gpt2'], ['--mesh=model=2', '--zero=3:model']),
    (GPT2, ['--mesh=data=2', '--microbatches=2', '--zero=2']),
    (GPT2, ['--mesh=data=2', '--zero=3', '--zero-keep=20000', '--bucket-mib=0.01', '--first-bucket-mib=0.001']),
    (GPT2, ['--mesh=data=2,model=2', '--remat=full']),
    (GPT2, ['--mesh=data=2', '--remat=*tanh*']),
    (GPT2, ['--remat=16KiB']),
    ([*GPT2, '--precision=bf16', '--grad-reduce=bf16'], ['--mesh=data=2', '--zero=1']),
    ([*GPT2, '--target=cuda', '--ptxas=off', '--precision=tf32'], ['--mesh=data=2', '--products=library']),
    ([*UNET, '--batch-norm=local'], ['--mesh=data=2', '--microbatches=2', '--sums=ordered']),
    (DLRM, ['--mesh=replica=2,model=2']),
    (LLAMA, ['--mesh=data=2,model=2', '--zero=1']),
    # Plans that the memory of a device chose.
    (DEEP, ['--mesh=data=2', '--device-memory=34MiB', '--remat=none']),
    (DEEP, ['--mesh=data=2', '--device-memory=29MiB']),
    (DEEP, ['--mesh=data=2', '--device-memory=42MiB', '--zero=0']),
    (['deep'], ['--mesh=data=2', '--device-memory=12MiB']),
    (GPT2, ['--device-memory=700KiB']),
]


def compiled(tools, model, flags, length):
    """(the options that --explain prints, the object without its command, which has `length` characters)"""
    name, *step = model
    arguments = [tools.model(name), *step, *flags, '--explain', '--emit=object', '--cache=off', '-o']
    command = ' '.join(['dpc-compile', *arguments, ''])
    path = tools.path('./object')
    missing = length - len(command) - len(path)
    path = path.replace('./', './' * (missing // 2 + 1)) + '_' * (missing % 2)
    page, _ = tools.good('dpc-compile', *arguments, path)
    with open(path, 'rb') as file:
        code = file.read()
    command = (command + path).encode()
    if code.count(command) != 1:
        raise ValueError(f'the object holds its command {code.count(command)} times')
    # The command repeats the other options as they were given, and then has the plan.
    printed = re.search(r'^PLAN\n  dpc-compile (.*)$', page, re.M).group(1)
    given = ' '.join([*arguments[:1], *step, '--emit=object', '--cache=off', '-o', path])
    other, plan = printed.split(path)
    if ' '.join(shlex.split(other + path)) != given:
        raise ValueError(f'{printed} begins not with {given}')
    return plan.strip(), code.replace(command, b'')


def defect(tools, model, flags):
    """What the program of the printed options has that the program of `flags` has not, or ''."""
    printed, code = compiled(tools, model, flags, 1500)
    options = subprocess.run(['sh', '-c', f'printf "%s\\n" {printed}'], capture_output=True, text=True, check=True).stdout.splitlines()
    options = [option for option in options if not option.startswith('--device-memory=')]
    again, same = compiled(tools, model, options, 1500)
    if again.split() != [option for option in printed.split() if not option.startswith('--device-memory=')]:
        return f'the plan {printed} prints as {again}'
    if code != same:
        return f'{len(code)} and {len(same)} bytes of object, for {printed}'
    return ''
