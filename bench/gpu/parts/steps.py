"""Part 4: steps of dpc's programs as one graph and launch by launch, in turns."""
import statistics

from sitting import Item


def median_ms(rounds):
    return round(1000 * statistics.median(rounds), 5)


def in_turns(contenders, rounds):
    """The seconds of a step in each round, by contender."""
    seconds = {who: [] for who in contenders}
    for _ in range(rounds):
        for who, contender in contenders.items():
            seconds[who].append(contender.run())
    return seconds


def steps(pack, name, precision):
    def measure(limit):
        contenders = {}
        try:
            contenders['graphs on'] = pack.contender(name, precision, limit)
            contenders['graphs off'] = pack.contender(name, precision, limit, DPC_BENCH_GRAPH='off')
            seconds = in_turns(contenders, pack.options.rounds)
            for contender in contenders.values():
                contender.quit()
        finally:
            for contender in contenders.values():
                contender.kill()
        yield {'workload': name, 'precision': precision, 'ms': {who: median_ms(own) for who, own in seconds.items()},
               'loss0': contenders['graphs on'].ready['loss0'], 'first_step_s': contenders['graphs on'].ready['ttfs_s']}
    return measure


def items(pack):
    return [Item(f'steps {name} {precision}', steps(pack, name, precision), 90) for name, precision in pack.workloads()]
