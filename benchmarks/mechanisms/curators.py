"""Mechanisms of a curator: noisy counts, selections, sequences of queries."""

from fractions import Fraction

from tightdp import Bit, Int, Values, choice, flip, geometric, mechanism, randint


@mechanism(record=Int(0, 100))
def large_sum(x):
    return geometric(sum(x), "9/10", 0, 100 * len(x))


@mechanism(record=Int(0, 12))
def middle_sum(x):
    return geometric(sum(x), "3/4", 0, 12 * len(x))


@mechanism(record=Int(0, 1000))
def plain_sum(x):
    return sum(x)


@mechanism(record=Bit)
def noisy_count(x):
    return geometric(sum(x), "1/2", -2, len(x) + 2)


@mechanism(record=Int(0, 5))
def permute_and_flip(x):
    scores = [sum(v == k for v in x) for k in range(6)]
    best, left = max(scores), list(range(6))
    while len(left) > 1:
        k = choice(left)
        if flip(Fraction(1, 2) ** (best - scores[k])):
            return k
        left.remove(k)
    return left[0]


@mechanism(record=Int(0, 2))
def exponential_mechanism(x):
    scores = [sum(v == k for v in x) for k in range(3)]
    return choice((0, 1, 2), [2**score for score in scores])


@mechanism(record=Int(0, 2))
def report_noisy_max(x):
    noisy = [geometric(sum(v == k for v in x), "1/2", -2, len(x) + 2) for k in range(3)]
    return noisy.index(max(noisy))


@mechanism(record=Int(0, 2))
def noisy_max_with_gap(x):
    noisy = sorted(geometric(sum(v == k for v in x), "1/2", -2, len(x) + 2) for k in range(3))
    return noisy[2] - noisy[1]


@mechanism(record=Bit)
def sparse_vector(x):
    threshold = geometric(1, "1/2", -1, 2)
    out = []
    for b in x:
        if geometric(b, "2/3", -1, 2) >= threshold:
            out.append(1)
            break
        out.append(0)
    return tuple(out)


@mechanism(record=Bit)
def sparse_vector_with_gap(x):
    threshold = geometric(0, "1/2", -2, 2)
    for at, b in enumerate(x):
        noisy = geometric(b, "2/3", -2, 3)
        if noisy >= threshold:
            return (at, noisy - threshold)
    return None


@mechanism(record=Bit)
def sparse_vector_without_end(x):
    threshold = geometric(1, "1/2", -1, 2)
    return tuple(int(geometric(b, "2/3", -1, 2) >= threshold) for b in x)


@mechanism(record=Bit)
def tree_counter(x):
    width = 1
    while width < len(x):
        width *= 2
    leaves = list(x) + [0] * (width - len(x))
    nodes = []
    while leaves:
        nodes.append([geometric(v, "1/2", -1, 2) for v in leaves])
        if len(leaves) == 1:
            break
        leaves = [leaves[2 * i] + leaves[2 * i + 1] for i in range(len(leaves) // 2)]
    return tuple(sum(level) for level in nodes)


@mechanism(record=Bit)
def running_counts(x):
    total, out = 0, []
    for b in x:
        total += b
        out.append(geometric(total, "1/2", 0, 2))
    return tuple(out)


@mechanism(record=Int(-1, 1))
def gradient_descent(x):
    w = 0
    for _ in range(3):
        step = sum(1 if v > w else -1 if v < w else 0 for v in x if flip("1/2"))
        w = max(-2, min(2, w + geometric(max(-1, min(1, step)), "1/2", -2, 2)))
    return w


@mechanism(record=Bit)
def joint_matching(x):
    used, out = [], []
    for b in x:
        free = [k for k in range(len(x)) if k not in used]
        weights = [2 if k % 2 == b else 1 for k in free]
        k = choice(free, weights)
        used.append(k)
        out.append(k)
    return tuple(out)


@mechanism(record=Int(0, 3))
def noisy_median(x):
    ordered = sorted(v if flip("3/4") else randint(0, 3) for v in x)
    return ordered[len(x) // 2]


@mechanism(record=Int(0, 3))
def noisy_histogram(x):
    return tuple(geometric(sum(v == k for v in x), "1/3", 0, len(x)) for k in range(4))


@mechanism(record=Values("a", "b", None))
def stability_histogram(x):
    out = []
    for word in ("a", "b"):
        count = sum(v == word for v in x)
        if count and (noisy := geometric(count, "1/2", 0, len(x) + 1)) > 1:
            out.append((word, noisy))
    return tuple(out)


@mechanism(record=Bit)
def propose_test_release(x):
    distance = abs(2 * sum(x) - len(x))
    if geometric(distance, "1/2", 0, len(x) + 1) > 2:
        return int(2 * sum(x) > len(x))
    return None


@mechanism(record=Bit)
def adaptive_counts(x):
    first = geometric(sum(x), "1/2", 0, len(x))
    ratio = "1/3" if first > 1 else "2/3"
    return (first, geometric(len(x) - sum(x), ratio, 0, len(x)))


@mechanism(record=Bit)
def random_walk(x):
    at = 0
    for b in x:
        at += 1 if flip("2/3" if b else "1/3") else -1
        if abs(at) > 2:
            break
    return at


@mechanism(record=Bit)
def parity_of_many(x):
    total = sum(x)
    for _ in range(60):
        total = (total + flip("1/100")) % 2
    return total


@mechanism(record=Bit)
def first_success(x):
    for at in range(12):
        if flip("1/3" if x[at % len(x)] else "1/4"):
            return at
    return None


@mechanism(record=Bit)
def name_and_shame(x):
    return tuple(b if flip("1/10") else None for b in x)


@mechanism(record=Bit)
def reservoir(x):
    kept = x[0]
    for at, b in enumerate(x):
        if at and flip((0, "1/2", "1/3", "1/4", "1/5", "1/6", "1/7", "1/8")[at]):
            kept = b
    return kept
