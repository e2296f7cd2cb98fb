"""PyTorch as a contender on this machine's device: answers the line protocol of bench/README.md.

    torch_contender.py WORKLOAD MODE [--precision=f32|tf32|bf16] [--device=cuda] [--small]

MODE: eager, or one of torch.compile's (default, reduce-overhead, max-autotune, ..). f32 is IEEE f32, bf16 is autocast. Images have
the format channels_last. The batch stays on the device.
"""
import json
import math
import sys
import time

import torch
from workloads import SMALL, WORKLOADS, optimizer_of


def main():
    name, mode, *flags = sys.argv[1:]
    given = dict(flag.lstrip('-').partition('=')[::2] for flag in flags)
    device, precision = given.get('device', 'cuda'), given.get('precision', 'f32')
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == 'tf32'
    torch.backends.cudnn.benchmark = True
    begin = time.monotonic()
    workload = (SMALL if 'small' in given else WORKLOADS)[name]
    module, batch = workload.make().to(device), workload.batch(device)
    if workload.isImages:
        module = module.to(memory_format=torch.channels_last)
        batch[0] = batch[0].to(memory_format=torch.channels_last)
    module.train()
    optimizer = optimizer_of(workload, module.parameters(), device)
    compiled = module if mode == 'eager' else torch.compile(module, mode=mode)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=precision == 'bf16'):
            loss = compiled(*batch)
        loss.backward()
        optimizer.step()
        return loss

    def wait():
        if device == 'cuda':
            torch.cuda.synchronize()

    def number(loss):
        value = float(loss)
        return value if math.isfinite(value) else None

    first = number(step())
    for _ in range(10 if device == 'cuda' else 1):  # until compiled code, graphs and choices of algorithms are there
        step()
    wait()
    print('READY', json.dumps({'ttfs_s': time.monotonic() - begin, 'loss0': first}), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == 'QUIT':
            break
        begin = time.monotonic()
        for _ in range(int(words[1])):
            loss = step()
        wait()
        print('DONE', json.dumps({'s': time.monotonic() - begin, 'loss': number(loss)}), flush=True)
    print('BYE {}', flush=True)


if __name__ == '__main__':
    main()
