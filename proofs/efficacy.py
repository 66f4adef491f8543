"""The rule for how much an audit in one run may see: `checker.py` beside it asks it about claims of this kind.

That an accepted file is true is a theorem (`efficacy_sound` in proofs/coq/Efficacy.v).
"""

from collections import defaultdict
from functools import cmp_to_key

from checker import beside, cost, items, need, positive, ratio, spend, text, times, value, within


def establish(certificate, claim, evidence):
    """Establish the efficacy: a fair coin gives each client one of two records, the program is run once, and of what it
    publishes k of the coins are guessed. At best the expected share of right guesses is `share`.

    For each output and client let w[0] and w[1] be the weights of all runs with this output in which the coin has
    fallen so, over all coins of the others. A guess that is b is right with weight w[b]; best are the k clients for
    whom the larger of both is largest. Runs are gone through part by part, for each state with such weights.
    """
    program = beside("program").Program(certificate)
    n, (above, below) = program.n, ratio(claim["share"], 0, 1)
    k, whole, total = within(claim["guesses"], 1, n, "number of guesses"), 1, 0
    given = [items(pair, 2) for pair in items(claim["pairs"], n)]
    pairs = [[program.numbers.get(text(value(record))) for record in pair] for pair in given]
    good = all(None not in pair for pair in pairs) and len({*program.clients} - {None}) == n
    need(good, "some client has no part, or there are no such records")
    for part in program.places:
        whole = times(whole, program.parts[part].total)
    pending = [(0, {"()": [1] * (2 * n)})]
    while pending:
        at, rows = pending.pop()
        if at == len(program.places):
            total = total + best([sum(each) for each in zip(*rows.values())], k)
            continue
        part, client, heard = program.places[at], program.clients[at], defaultdict(dict)
        for state, row in rows.items():
            for coin in (None,) if client is None else (0, 1):
                fallen = row if client is None else [*row[: 2 * client], *row[2 * client :]]
                if client is not None:
                    fallen[2 * client + 1 - coin] = 0
                runs, _ = program.run(part, state, None if client is None else pairs[client][coin])
                odds = sum(odds for _, moved in runs for _, odds in moved)
                need(odds == program.parts[part].total, "how much is observed depends on the records")
                for told, moved in runs:
                    for after, odds in moved:
                        spend(20 + n * (16 + program.parts[part].price * cost(sum(row))))
                        before = heard[text(told)].get(after, [0] * (2 * n))
                        heard[text(told)][after] = [sums + times(odds, weight) for sums, weight in zip(before, fallen)]
        pending += [(at + 1, rows) for rows in heard.values()]
    need(times(below, total) == times(above, times(k << n, whole)), "of the guesses another share is right")
    return ""


def best(row, k):
    """Return the weight of right guesses, where the k best clients are guessed."""
    spend(12 * len(row) * (1 + len(row).bit_length()) * cost(sum(row)))
    likelier = [b if positive(b + -1 * a) else a for a, b in zip(row[::2], row[1::2])]
    likelier.sort(key=cmp_to_key(lambda a, b: positive(a + -1 * b) - positive(b + -1 * a)), reverse=True)
    return sum(likelier[:k])
