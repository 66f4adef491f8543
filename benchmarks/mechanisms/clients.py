"""Mechanisms of clients: local randomizers, shufflers, secure sums."""

from tightdp import Bit, Bits, Int, binomial, choice, flip, geometric, mechanism, observe, randint, shuffle


@mechanism(record=Bit)
def randomized_response(x):
    return tuple(b if flip("3/4") else 1 - b for b in x)


@mechanism(record=Bit)
def randomized_response_sum(x):
    return sum(b if flip("3/4") else 1 - b for b in x)


@mechanism(record=Int(0, 3))
def k_ary_response(x):
    return tuple(b if flip("1/2") else randint(0, 3) for b in x)


@mechanism(record=Int(0, 2))
def shuffled_k_ary_response(x):
    return shuffle([b if flip("1/2") else randint(0, 2) for b in x])


@mechanism(record=Int(0, 3))
def optimal_local_hashing(x):
    reports = []
    for value in x:
        a, b = randint(1, 4), randint(0, 4)
        bucket = (a * value + b) % 5 % 3
        reports.append((a, b, bucket if flip("1/2") else (bucket + randint(1, 2)) % 3))
    return tuple(reports)


@mechanism(record=Int(0, 3))
def subset_selection(x):
    reports = []
    for value in x:
        keep = flip("3/5")
        others = [v for v in range(4) if v != value]
        first = choice(others)
        rest = [v for v in others if v != first]
        report = (value, first) if keep else (first, choice(rest))
        reports.append(tuple(sorted(report)))
    return tuple(reports)


@mechanism(record=Int(0, 7))
def hadamard_response(x):
    reports = []
    for value in x:
        row = randint(0, 7)
        sign = (row & (value + 0)).bit_count() % 2
        reports.append((row, sign if flip("3/4") else 1 - sign))
    return tuple(reports)


@mechanism(record=Bits(2))
def priv_unit(x):
    reports = []
    for first, second in x:
        near = flip("3/4")
        a, b = flip("1/2"), flip("1/2")
        reports.append((a, b) if near == ((a == first) or (b == second)) else (first, 1 - second))
    return tuple(reports)


@mechanism(record=Bit)
def shuffled_blanket(x):
    return shuffle([randint(0, 1) if flip("1/4") else b for b in x])


@mechanism(record=Bit)
def masked_secure_sum(x):
    n, shown = len(x), []
    masks = [[randint(0, 2) if i < j else 0 for j in range(n)] for i in range(n)]
    for i in range(n):
        value = x[i]
        for j in range(n):
            value += masks[i][j] - masks[j][i]
        shown.append(value % 3)
    return tuple(shown)


@mechanism(record=Bit)
def federated_sum_with_dropout(x):
    total = present = 0
    for b in x:
        if flip("9/10"):
            present += 1
            total += b if flip("3/4") else 1 - b
    return (present, total)


@mechanism(record=Bit)
def random_filter(x):
    return len([b for b in x if flip("1/2") and b])


@mechanism(record=Bit)
def filtered_list(x):
    kept = [b for b in x if flip("1/2")]
    return sum(kept), len(kept)


@mechanism(record=Bit)
def two_rounds(x):
    first = [b if flip("2/3") else 1 - b for b in x]
    likely = sum(first) * 2 > len(x)
    second = [b if flip("3/4" if likely else "4/5") else 1 - b for b in x]
    return (sum(first), sum(second))


@mechanism(record=Bit)
def chained_response(x):
    last, out = 0, []
    for b in x:
        last = (b ^ last) if flip("2/3") else last
        out.append(last)
    return tuple(out)


@mechanism(record=Bit)
def subsampled_sum(x):
    return geometric(sum(b for b in x if flip("1/3")), "1/2", -1, len(x) + 1)


@mechanism(record=Bit)
def parity_with_noise(x):
    return (sum(x) + flip("1/4")) % 2


@mechanism(record=Int(0, 2))
def observed_response(x):
    sent = [v if flip("1/2") else randint(0, 2) for v in x]
    observe(sum(sent) > 0)
    return max(sent)


@mechanism(record=Bit)
def binomial_noise(x):
    return sum(x) + binomial(6, "1/2")


@mechanism(record=Bit)
def poisoned_sum(x):
    total = 0
    for b in x:
        total += b if flip("7/8") else randint(0, 3)
        if total > 5:
            return "overflow"
    return total
