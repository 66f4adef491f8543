"""The stability-based histogram (Korolova et al., 2009; Bun, Nissim and Stemmer, 2016): noisy counts above a bound."""

from tightdp import Values, geometric, mechanism

ASKED = (
    ({"n": 10}, "privacy", {}),
    ({"n": 10}, "delta", {"exp_epsilon": 3}),
)

WORDS = ("a", "b", "c", "d")


@mechanism(record=Values(*WORDS))
def with_a_list(x, least=4):
    shown = []
    for word in WORDS:
        count = sum(v == word for v in x)
        if count > 0 and (noisy := geometric(count, "1/2", 0, len(x) + 2)) > least:
            shown.append((word, noisy))
    return tuple(shown)


@mechanism(record=Values(*WORDS))
def with_a_dictionary(x, least=4):
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    noisy = {word: geometric(count, "1/2", 0, len(x) + 2) for word, count in counts.items()}
    return {word: count for word, count in noisy.items() if count > least}


def _noisy(count, most):
    return geometric(count, "1/2", 0, most) if count else 0


@mechanism(record=Values(*WORDS))
def with_a_helper(x, least=4):
    noisy = [_noisy(len([v for v in x if v == word]), len(x) + 2) for word in WORDS]
    return tuple((word, count) for word, count in zip(WORDS, noisy) if count > least)
