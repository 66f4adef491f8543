"""Clients are matched to places one after the other, by noisy preference (Hsu et al., 2014, in small)."""

from tightdp import Bit, choice, mechanism

ASKED = (({"n": 10}, "privacy", {}),)


@mechanism(record=Bit)
def with_a_comprehension(x):
    used = []
    for b in x:
        free = [k for k in range(len(x)) if k not in used]
        used.append(choice(free, [2 if k % 2 == b else 1 for k in free]))
    return tuple(used)


@mechanism(record=Bit)
def with_remove(x):
    free, places = list(range(len(x))), ()
    for b in x:
        weights = []
        for k in free:
            weights.append(2 if k % 2 == b else 1)
        place = choice(free, weights)
        free.remove(place)
        places += (place,)
    return places


def _take(free, b):
    weights = [(2 if k % 2 == b else 1) if here else 0 for k, here in enumerate(free)]
    return choice(range(len(free)), weights)


@mechanism(record=Bit)
def with_flags(x):
    free = [True] * len(x)
    places = []
    for b in x:
        place = _take(free, b)
        free[place] = False
        places.append(place)
    return tuple(places)
