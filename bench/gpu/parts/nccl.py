"""Part 5: NCCL as programs call it, with the one rank of this machine."""
from sitting import Item, json_lines


def items(pack):
    # The emulated NCCL waits for ever in the second one, as NCCL is said to do. So programs do not do it.
    return [Item('NCCL with one rank', lambda limit: json_lines(pack.tool('nccl'), limit), 60),
            Item('NCCL abort with a live graph', lambda limit: json_lines(pack.tool('nccl-live'), limit), 20)]
