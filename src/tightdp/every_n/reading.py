"""Reading a program for every n: its runs are followed one by one on the lowering's machine, the records as passes.

What is done before the records, with each, and after them comes from the same machine that compiles mechanisms for one
n; here draws are made one outcome after the other, and a loop over the records is closed into states where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn, cast

from tightdp.core.builder import Builder
from tightdp.core.lowering.iteration import collected
from tightdp.core.lowering.machine import End, Failure
from tightdp.core.lowering.outputs import Plan
from tightdp.core.lowering.registry import FUNCTIONS
from tightdp.core.lowering.scalars import adopt
from tightdp.core.lowering.store import Store
from tightdp.core.lowering.values import Every, Growing, Value, is_scalar, known
from tightdp.core.nodes import Expr
from tightdp.errors import LanguageError, ProgramError
from tightdp.every_n.counters import Farther, refuse_cut_off
from tightdp.every_n.deciding import TURN, Choices, Run, Touched
from tightdp.every_n.drawn_loops import LoopFollower
from tightdp.every_n.following import FollowingBuilder
from tightdp.every_n.indexes import places_back, without_mark
from tightdp.every_n.learned import Again, CheckedStore, Explored, Extreme, Knowledge, Needed, Sent, Unending
from tightdp.every_n.merging import key_of
from tightdp.every_n.passes import Pass
from tightdp.every_n.paths import SIZE, Affine, Symbol, refusal, tree_of
from tightdp.every_n.picking import picked, record_at_place
from tightdp.every_n.runs import NEXT, PASSED, Ending, NoEvidence, Session, Stopped, rest_of, tokens_of
from tightdp.every_n.trees import odds_of
from tightdp.language import primitives
from tightdp.language.program import Bound

_AROUND = ("geometric", "discrete_laplace", "one_sided_geometric", "laplace", "exponential")
"""The noise that may be around a symbolic number."""


class Following(LoopFollower):
    """Follows one run of a program on all records, with everything that may come of them."""

    single = True
    apart = True

    def __init__(self, bound: Bound, session: Session, choices: Choices, watch: Callable[[], None]) -> None:
        self.session, self.choices, self.sums = session, choices, session.manner.sums
        self.whole = session.loops
        self.inside: Pass | None = None
        self.passes: list[tuple[Pass, Explored, int]] = []
        self.key: tuple[int, ...] = ()
        self.first: Run | None = None
        self.picked: list[Value] = []
        self.residues = {}
        self.begun: dict[int, int] = {}  # of loops over items, by how many are around: the parts that they began with
        self.evaluated = [[]]
        super().__init__(bound, None, None, watch, Plan())
        self.builder.refuse, self.builder.residue = self._refuse, self._residue
        self.builder.run = Run("pre", choices, False, session.manner)
        self.size = self.builder.symbol(Affine(SIZE, Fraction(0)))
        self.evidence = NoEvidence(self)

    def builder_of(self, watch: Callable[[], None]) -> Builder:
        return FollowingBuilder(watch)

    def store_of(self) -> Store:
        return CheckedStore()

    def _dataset(self) -> Value:
        widths = {len(record) if isinstance(record, tuple) else 0 for record in self.bound.record.values}
        return Every(lambda record, index: record, width=widths.pop() if len(widths) == 1 else 0)

    # the whole

    def boundary(self) -> None:
        choices = self.run.choices
        if choices.meeting is not None and choices.looked < len(choices.made):
            choices.looked = len(choices.made)
            choices.meeting.reached(choices, self._depends_on)

    def next_item(self) -> None:
        parts, loops = self.evaluated[-1], len(self.rounds)
        if self.rounds[-1][1]:
            del parts[self.begun[loops] :]
            parts.append((self.position[-1], NEXT))
        else:
            self.begun[loops] = len(parts)
        self.boundary()

    def _depends_on(self) -> Any:
        """Return what the rest of the run depends on; None where that is not known."""
        passes = tuple((each.kind, at) for each, _, at in self.passes)
        passed = self.key, passes, tuple(sorted(self.residues.items()))
        return key_of(self, (1, 2, 0) if self.inside is None else self.inside.base, (*passed, len(self.picked)))

    def ending(self) -> Ending:
        """Follow one run to its end."""
        bound = self.bound
        keywords = {name: adopt(self, value) for name, value in bound.arguments.items()}
        if bound.program.takes_n():
            keywords["n"] = self.size
        try:
            value = self.attempt(lambda: self._gathered(self.answered(keywords)))
            published: list[Affine] = []
            returned = Sent(self.visible(self.sorted_output(value), published, self.run), tuple(published))
        except Stopped as stopped:
            returned = stopped.sent
        except Needed as needed:
            self._need(needed)
        except Farther as farther:
            learned = self.passes[farther.token // 1000][0].learned
            learned.farther(farther.token, farther.edge, self.sums)
            raise Again from None
        asked = tuple(self.visible_answers(self.run))
        seen = (returned.what, *(each.what for each in asked))
        if without_mark(self.passes, seen):
            raise Unending
        used = frozenset(t for what in seen for t in tokens_of(what))
        begun = {token: value for each, *_ in self.passes for token, value in each.initial.items()}
        while more := {t for token in used if token in begun for t in tokens_of(begun[token])} - used:
            used |= more
        initial = tuple((token, begun[token]) for token in sorted(used) if token in begun)
        return Ending(
            self.key,
            self.first or self.run,
            tuple((explored, at) for _, explored, at in self.passes),
            self.run,
            returned,
            asked,
            initial,
            used,
        )

    def _gathered(self, value: Value) -> Value:
        """Return an output with the records, where they are a part of it, one by one."""
        if isinstance(value, tuple):
            return tuple(self._gathered(item) for item in value)
        return collected(self, value) if isinstance(value, Every) and not value.parts else value

    def _need(self, needed: Needed) -> NoReturn:
        for each, *_ in reversed(self.passes):
            if needed.cell in each.learned.written and needed.cell not in each.learned.live:
                each.learned.live[needed.cell] = None
                raise Again
        raise refusal("what it found in the records is used in a way that is not followed")

    # passes

    def for_every(self, action: Callable[[Value, Value], None], backwards: bool = False) -> None:
        if self.inside is not None:
            raise refusal("it iterates over the records again inside a loop over them")
        if self.session.backwards not in (None, backwards):
            raise refusal("it goes through the records in both orders")
        self.session.backwards = backwards
        number, at = len(self.passes), cast("Any", self.position[-1])
        evaluated = [len(parts) for parts in self.evaluated]
        if self.first is None:
            if self.choices.meeting is not None:
                self.choices.meeting.reached(self.choices, self._depends_on, gate=True)
            self.first, self.key = self.run, tuple(at for _, at in self.choices.made)
        session, key = self.session, (self.key, number, (at.lineno, at.col_offset))
        learned = session.learned.setdefault(key, Knowledge())
        found = Pass(self, number, learned, action)
        found.begin_with(self.run)
        made = tuple(at for _, at in self.choices.made)
        if made not in session.explored:
            explored, version = found.explored(), repr(learned)
            session.explored[made] = explored, (found.ways, found.initial)
            if session.versions.setdefault(key, version) != version:
                raise Again  # what was explored before did not know it
        explored, (found.ways, found.initial) = session.explored[made]
        found.kind = session.kind(explored, found.initial)
        last = explored.finals[self.choices.choose(tuple((each, Fraction(1)) for each in explored.finals))]
        if number == 0:
            self.builder.run = Run("post", self.choices, False, session.manner, before=self.first)
        self.passes.append((found, explored, last))
        found.release(explored, explored.states[last], last)
        for parts, length in zip(self.evaluated, evaluated, strict=True):
            del parts[length:]
        self.evaluated[-1].append((self.position[-1], PASSED))

    def how_many(self) -> Value:
        return self.size

    def record_at(self, index: Value) -> Value:
        if self.inside is not None and (back := places_back(index, bool(self.session.backwards))) is not None:
            return self.inside.turns.earlier(back) if back else self.inside.record
        if isinstance(index, Symbol) and isinstance(index.tree, tuple) and index.tree[0] == "position":
            return picked(self, index.tree[1])
        if isinstance(index, Symbol) and index.tree == Affine(SIZE, Fraction(-1)):
            index = -1
        if self.session.by_position and self.inside is None and type(index) is int:
            return record_at_place(self, index)
        hint = "go through the records with the same code for each, as in `for v in x`, or ask for one n"
        raise self.unsupported("no answer for every n: this record is picked by its position", hint)

    def drawn(self, name: str, values: Sequence[Value]) -> Value | None:
        if name == "choice" and values:
            return self._weighed(values)
        if name in _AROUND and any(isinstance(value, Symbol) for value in values):
            return self._noisy(name, *values)
        last = values[1] if len(values) == 2 else None
        from_0_to_last = isinstance(last, Symbol) and last.tree == Affine(SIZE, Fraction(-1)) and values[0] == 0
        if name != "choice" and not (name == "randint" and from_0_to_last):
            return None
        self.picked.append(None)
        return self.builder.symbol(("position", len(self.picked)))

    def _weighed(self, weights: Sequence[Value]) -> Value | None:
        """Return which of its values a choice takes whose weights are powers of sums; None for other weights."""
        odds = odds_of([tree_of(self.expr(weight)) for weight in weights])
        forms = [Affine(terms, Fraction(0)) for each in odds.values() for one in each for _, terms in one.powers]
        if self.run.kind != "post" or not forms or not all(map(self.run.clean, forms)):
            return None
        for form in forms:
            self.run.check(form.terms)
        return self.run.weighed(odds)

    def _noisy(self, name: str, centre: Value, shape: Value, low: Value = None, high: Value = None) -> Value:
        """Return noise around a symbolic number, clamped to ends where these are given."""
        refuse_cut_off(*(value.tree for value in (centre, shape, low, high) if isinstance(value, Symbol)))
        add, law = self.builder.add, getattr(primitives, name)
        real = name in ("laplace", "exponential")
        form, zero = tree_of(self.expr(centre)), Affine((), Fraction(0))
        whole = isinstance(form, Affine) and (real or form.whole() or self.builder.rest(form, 1) == zero)
        if not whole or isinstance(shape, Expr) or (low is None) != (high is None):
            self._refuse()
        noisy = add(self.expr(centre), self.expr(FUNCTIONS[law](self, 0, shape)))
        if low is None:
            return known(noisy)
        if not self.builder.compared("le", self.expr(low), self.expr(high)):
            raise Failure("ParameterError: the ends of geometric are the wrong way round", "give the lower end first")
        clamped = self.builder.extremum("min", [noisy, self.expr(high)])
        return known(self.builder.extremum("max", [self.expr(low), clamped]))

    def leave(self, target: list[End], level: int, value: Value = None) -> None:
        inside = self.inside
        if inside is not None and level < inside.level:
            if inside.releasing is None:
                inside.leave(target, value)
                self.alive = self.builder.false
                return
            value = inside.released()
        super().leave(target, level, value)

    # what grows

    def touched(self, growing: Growing, asked: str) -> Value:
        tree = growing.tree
        if self.inside is not None and tree[0] == "list":
            raise Touched(tree[1], asked)
        self._stop()
        raise self.unsupported(
            "no answer for every n: what is done with the messages of all records is not followed here",
            "publish them as they are, or their sum, least, greatest or number",
        )

    def of_growing(self, name: str, growing: Growing, *more: Value) -> Value:
        tree = growing.tree
        if self.inside is not None:
            if name not in ("sum", "len") or tree[0] != "list":
                return self.touched(growing, name)
            now = self.inside.aggregate(tree[1], name)
            return self._with_tail(name, now, growing)
        if (
            name == "item"
            and tree[0] == "sorted"
            and type(tree[1]) is int
            and type(more[0]) is int
            and not growing.tail
        ):
            return self._of_rank(tree[1], more[0])
        if name == "index" and (place := self._place_of(growing, *more)) is not None:
            return place
        if name in ("sorted", "shuffle") and not growing.tail:
            return Growing((name, *tree[1:]) if tree[0] == "list" else (name, tree), (), self.touched)
        if name in ("sum", "len"):
            now = self._measured(name, tree[1]) if self.sums and tree[0] == "list" else None
            return self._with_tail(name, now or self.builder.symbol((name, *tree[1:])), growing)
        if name in ("max", "min", "count") and not growing.tail:
            return self.builder.symbol((name, tree, *more) if more else (name, *tree[1:]))
        return self.touched(growing, name)

    def _place_of(self, growing: Growing, wanted: Value) -> Value | None:
        """Return where the greatest or the least item of a list stands; None where something else is wanted."""
        tree = wanted.tree if isinstance(wanted, Symbol) else None
        if tree not in (("max", *growing.tree[1:]), ("min", *growing.tree[1:])) or growing.tail:
            return None
        ((_, place),) = self._first(growing.tree[1], ("gt" if tree[0] == "max" else "lt", -1))
        return place

    def _first(self, token: int, asked: Extreme) -> tuple[tuple[Value, Value], ...]:
        """Return the items of a list that come first, with the indices of their records."""
        within = self.passes[token // 1000][0]
        if asked not in within.extremes.get(token, {}):
            within.learned.extremes.setdefault(within.learned.place(token), set()).add(asked)
            raise Again
        return within.extremes[token][asked]

    def _of_rank(self, token: int, rank: int) -> Value:
        """Return an item of a list in ascending order, by its place or, below 0, from the end."""
        kept = self._first(token, ("lt", rank) if rank >= 0 else ("gt", -1 - rank))
        if len(kept) <= max(rank, -1 - rank):
            raise Failure("IndexError: list index out of range", "compare the index with the length of the list first")
        return kept[-1][0]

    def _measured(self, name: str, token: int) -> Value:
        """Return the length or the sum of what was added to a list, followed beside it."""
        number = token // 1000
        learned = self.passes[number][0].learned
        place = learned.tokens[token % 1000]
        if name not in learned.measured.get(place, ()):
            learned.measured.setdefault(place, set()).add(name)
            raise Again
        return self.builder.symbol(
            Affine(((("sum", learned.token(number, (*place, name))), Fraction(1)),), Fraction(0))
        )

    def _residue(self, token: int, modulus: int) -> int | None:
        """Return what is left of a sum modulo a number, which becomes a part of the state."""
        number = token // 1000
        within = self.inside if self.inside is not None and number in (TURN, self.inside.number) else None
        learned = within.learned if within else self.passes[number][0].learned
        place = learned.place(token)
        known = learned.residues.get(place, 1)
        if known == 0:
            return None
        if known % modulus == 0 and token in self.residues:
            return self.residues[token][1] % modulus
        if within:
            raise Touched(token, modulus=modulus)
        learned.residues[place] = math.lcm(known, modulus)
        raise Again

    def _with_tail(self, name: str, now: Value, growing: Growing) -> Value:
        for item in growing.tail:
            one = 1 if name == "len" else item
            if not is_scalar(one):
                return self.touched(growing, name)
            now = known(self.builder.add(self.expr(now), self.expr(one)))
        return now

    # errors

    def evaluate(self, node: Any) -> Value:
        value = self._with_span(node, super().evaluate)
        self.evaluated[-1].append((node, value))
        return value

    def execute(self, node: Any) -> None:
        self._with_span(node, super().execute)

    def _with_span(self, node: Any, action: Callable[[Any], Value]) -> Value:
        self.evaluated.append([])
        try:
            return action(node)
        except LanguageError as error:
            error.span = error.span or self.frame.source.span(node)
            raise
        finally:
            self.evaluated.pop()

    def _stop(self) -> None:
        """Publish what the rest of the run reads, where that is known."""
        if self.inside is None and self.passes and (rest := rest_of(self, self.bound.program.executed)) is not None:
            raise Stopped(rest)

    def _refuse(self) -> NoReturn:
        self._stop()
        raise self.unsupported(
            "no answer for every n: this is not followed for noise on all integers, sums over the records or n",
            "ask for one n",
        )

    def oblige(self, condition: Expr, failure: Failure) -> None:
        if self.guards and failure.kind is not None:
            super().oblige(condition, failure)
        elif self.conj(self.alive, condition) is not self.builder.false:
            raise self._failing(failure)

    def _failing(self, failure: Failure) -> Exception:
        span = failure.span or self.frame.source.span(self.position[-1])
        runs = [self.run] if self.first is None else [self.first, self.run]
        if any(run.bounds or run.asked or run.noises for run in runs):
            return LanguageError(f"no answer for every n: a run may fail with {failure.message}", "ask for one n", span)
        return ProgramError(f"for some n a run fails with {failure.message}", "ask for one n to see a dataset", span)
