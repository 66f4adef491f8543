"""The rule of linear forms: `checker.py` beside it asks it about claims without delta, for one n and for every n.

That an accepted file is true is a theorem (`forms_sound` in proofs/coq/Soundness.v).
"""

from collections import Counter, defaultdict, namedtuple
from itertools import product

from checker import UNDEFINED, cost, factors, fields, items, need, positive, spend, text, times, value, whole, within

Cut = namedtuple("Cut", "states before after")


def establish(program, evidence):
    """Establish P(y|x) <= R P(y|x') for all neighbours x, x' and outputs y, with R = up / down.

    Given what is published, a part moves weights linearly. Let u be the weights of the states at a cut between parts
    while x and x' are alike; v and w those under x and x' later. At each cut some forms in u, or in v and w, are said
    to be at most 0; at the end down sum(v) - up sum(w). They are if those of the cut before are: taken back through a
    part, each is at most a sum of these times numbers that are not negative, factor by factor. With `units` all forms
    down v[s] - up w[s] are among them, and no others in v and w.
    """
    units = evidence["units"]
    other = program.listed or program.points[0][1][0] != 0 or program.error is not None or (units and program.at_once)
    need(type(units) is bool and not other, "this rule is not for this claim")
    start = [{(1, 0): 1, (2, 0): -1}, {(1, 0): -1, (2, 0): 1}]
    cuts = [
        Cut({"()": 0}, [], start),
        *[cut(program, each) for each in items(evidence["cuts"])],
        Cut({"()": 0}, [], []),
    ]
    for each in cuts if units else cuts[-1:]:
        spend(6 * len(each.states))
        each.after[:] = ratios(program, len(each.states))
    ends, here = [step(program, each, cuts, units) for each in items(evidence["steps"])], 0
    order = items(evidence["order"])
    need(len(order) == len(program.places), "there is not one step for each part")
    for at, place in zip(order, program.places):
        part, before, after = ends[within(at, 0, len(ends) - 1, "step")]
        need(part == place and before == here, "steps do not follow each other")
        here = after
    loops = not program.every or ends[order[1]][1] == ends[order[1]][2]
    need(here == len(cuts) - 1 and loops, "steps do not lead to the end, or not to themselves")


def ratios(program, many):
    """Return the forms down v[s] - up w[s] of so many states."""
    (up, down), _ = program.points[0]
    return [{(1, state): down, (2, state): -1 * up} for state in range(many)]


def cut(program, given):
    """Read a cut: its states, and forms that are at most 0, of numbers of states with factors: before x and x' differ
    {(0, state): factor}, and after that, under x and x', {(1, state): .., (2, state): ..}."""
    listed, before, after = fields(given, "states before after")
    left = [[UNDEFINED if each == {"undefined": None} else value(each) for each in items(s)] for s in items(listed)]
    found = [*map(tuple, left)]
    states = {text(state): at for at, state in enumerate(found)}
    program.states |= zip(states, found)

    def form(*rows):  # of one row before, of two after
        pairs = [((copy, at), c) for copy, row in enumerate(rows, len(rows) - 1) for at, c in factors(row)]
        good = len(dict(pairs)) == len(pairs) and all(at < len(states) for (_, at), _ in pairs)
        need(good and len(found) == len(states), "there is no such state, or it stands twice")
        return dict(pairs)

    return Cut(states, [form(row) for row in items(before)], [form(*items(row, 2)) for row in items(after)])


def step(program, given, cuts, units):
    """Check a part from a cut to another: all that it leads to is listed, and forms follow from those before."""
    at, before, after, outputs, why = fields(given, "part before after outputs why")
    part, back, totals = program.parts[within(at, 0, len(program.parts) - 1, "part")], {}, []
    old, new = cuts[within(before, 0, len(cuts) - 1, "cut")], cuts[within(after, 1, len(cuts) - 1, "cut")]
    told = {text(value(each)): number for number, each in enumerate(items(outputs))}
    need(len(told) == len(outputs), "an output stands twice")
    reasons = [read_reasons(rows) for rows in fields(why, "before across after")]
    for record, (state, number) in product({a for a, _ in program.met} if part.reads else {0}, old.states.items()):
        moved, many = program.run(at, state, record if part.reads else None)
        spend(many * (9 + part.price))
        rows = [(shown, left, odds) for shown, row in moved for left, odds in row]
        for shown, left, odds in rows:
            need(shown in told and left in new.states, "an output or a state is not listed")
            back.setdefault((record, new.states[left]), []).append((told[shown], number, odds))
        totals.append(sum(odds for _, _, odds in rows))
    same = totals and positive(totals[0]) and all(each == totals[0] for each in totals)
    need(same, "a cut has no state, or weights do not add up to the same")
    for which, about, form in taken_back(program, part, back, new.before, new.after, units, before == 0):
        bounded(form, old.after if which == 2 else old.before, reasons[which].get(about))
    return at, before, after


def taken_back(program, part, back, early, late, units, first):
    """Yield the forms before a part that give those after it: of which kind (0: before x and x' differ, 1: over the
    difference, 2: after it), what each is about (two records, what is published, a form), and its factors."""
    for a, b in program.met if part.reads else [(0, 0)]:
        later = not units and (not first or program.at_once) and (a == b or program.at_once)
        kinds = (0, early, a == b), (1, late, a != b and not program.at_once), (2, late, later)
        for which, number, form in ((which, *each) for which, forms, on in kinds if on for each in enumerate(forms)):
            spend(9 + 4 * len(form))
            found = defaultdict(Counter)
            for (copy, state), factor in form.items():
                rows = back.get(((a, a, b)[copy], state), ())
                spend(len(rows) * (3 + part.price * cost(factor)))
                for shown, before, odds in rows:
                    found[shown][copy if which == 2 else 0, before] += odds * factor
            for shown, taken in found.items():
                yield which, (a, b, shown, number), taken


def read_reasons(rows):
    """Read for what (two records, what is published, a form) a factor, and numbers of forms with multipliers."""
    found = {tuple(items(row)[:4]): (whole(row[4]), factors(row[5:])) for row in items(rows)}
    need({type(each) for about in found for each in about} <= {int}, "a reason is about four numbers")
    need(len(found) == len(rows), "there are two reasons for the same")
    return found


def bounded(form, others, why):
    """Check that a form, times a positive factor, is at most a sum of others, factor by factor."""
    if why:
        need(positive(why[0]), "a factor is not positive")
        form = {key: times(why[0], each) for key, each in form.items()}
        for at, multiplier in why[1]:
            need(not positive(-1 * multiplier), "a multiplier is negative")
            for key, each in others[at].items() if at < len(others) else ():
                spend(1)
                form[key] = form.get(key, 0) + -1 * times(multiplier, each)
    need(not any(map(positive, form.values())), "a form is not bounded by others")
