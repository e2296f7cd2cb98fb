"""PyTorch as a contender on this machine's device: answers the line protocol of bench/README.md.

    torch_contender.py WORKLOAD MODE [--device=cuda]

MODE: eager, or one of torch.compile's (default, reduce-overhead, max-autotune, ..). IEEE f32: no tf32. The batch
stays on the device.
"""
import json
import sys
import time

import torch
from workloads import WORKLOADS, optimizer_of


def main():
    name, mode, *flags = sys.argv[1:]
    device = flags[0].split('=')[1] if flags else 'cuda'
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    begin = time.monotonic()
    workload = WORKLOADS[name]
    module, batch = workload.make().to(device), workload.batch(device)
    if workload.isImages:
        module = module.to(memory_format=torch.channels_last)
        batch[0] = batch[0].to(memory_format=torch.channels_last)
    module.train()
    optimizer = optimizer_of(workload, module.parameters())
    run = module if mode == 'eager' else torch.compile(module, mode=mode)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = run(*batch)
        loss.backward()
        optimizer.step()
        return loss

    def wait():
        if device == 'cuda':
            torch.cuda.synchronize()

    loss = step().item()
    for _ in range(10):  # until compiled code, graphs and choices of algorithms are there
        step()
    wait()
    print('READY', json.dumps({'ttfs_s': time.monotonic() - begin, 'loss0': loss}), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == 'QUIT':
            break
        begin = time.monotonic()
        for _ in range(int(words[1])):
            loss = step()
        wait()
        print('DONE', json.dumps({'s': time.monotonic() - begin, 'loss': float(loss)}), flush=True)
    print('BYE {}', flush=True)


if __name__ == '__main__':
    main()
