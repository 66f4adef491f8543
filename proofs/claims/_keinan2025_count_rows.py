"""K11-K19 of keinan2025: counts, counts in sets, full knowledge, adaptive guessing."""

from __future__ import annotations

from fractions import Fraction

import _keinan2025_checks as checks
import _keinan2025_count_proofs as proofs
import _keinan2025_sets as sets

from tightdp.claims import Correction, Paper, grid

LAMS = ("1/3", "1/4", "1/10")


def add(paper: Paper) -> None:
    """Add the rows."""
    _count(paper)
    _sets(paper)
    _full_knowledge(paper)
    _sure(paper)


def _count(paper: Paper) -> None:
    paper.claim(
        "K11a",
        "Prop. D.2",
        "Count of n bits: p(|ℓ_i(o)|) = 1/2 + |o - n/2|/n for every o; E_k is the same for every k, equals "
        "1/2 + E|O - n/2|/n, and is at most 1/2 + 1/(2·sqrt(n)).",
        verdict="proved",
        instances=grid(n=(*range(1, 17), 40, 100)),
        quick=10,
        check=checks.count_efficacies,
        proof=proofs.posterior_of_count,
        notes="The bound is attained at n = 1. In closed form E_k = 1/2 + C(n-1,⌊n/2⌋)/2^n (K11b).",
    )
    paper.claim(
        "K11b",
        "Prop. D.2, finite n",
        "For Count E_k = 1/2 + C(n-1,⌊n/2⌋)/2^n.",
        verdict="proved",
        extra=True,
        instances=grid(n=(*range(1, 17), 40)),
        quick=10,
        check=checks.count_efficacies,
        proof=proofs.efficacy_of_count_in_closed_form,
    )
    paper.row(
        "K11",
        "Prop. D.2",
        "Count of n bits: p(|ℓ_i(o)|) = 1/2 + |o - n/2|/n for every o; E_k is the same for every k, equals "
        "1/2 + E|O - n/2|/n, and is at most 1/2 + 1/(2·sqrt(n)).",
        parts=("K11a", "K11b"),
    )
    paper.claim(
        "K12",
        "Lemma D.5",
        "Count: P(|ℓ| >= a) = P(|O - n/2| >= n(e^a - 1)/(2(e^a + 1))).",
        verdict="proved",
        instances=grid(n=range(1, 13), t=("1", "3/2", "2", "3", "7", "20")),
        quick=20,
        check=checks.count_losses,
        proof=proofs.loss_of_count,
        notes="Printed for a > 0; it holds for every real a, and in the limit a = ∞. The instances have t = e^a.",
    )


def _sets(paper: Paper) -> None:
    tight = "One-run auditing of Count-in-sets (counts of disjoint sets of size s(n)) is asymptotically tight"
    paper.claim(
        "K13a",
        "Prop. D.6, 'if'",
        f"{tight} if s(n) = o(log n).",
        verdict="proved",
        instances=[{"n": s * 2**j, "s": s} for s in (1, 2, 3, 4, 5) for j in (1, 2, 4)],
        quick=6,
        check=sets.revealed_sets,
        proof=proofs.small_sets_are_tight,
        notes="At finite n: a set is revealed with probability exactly 2^(1-s), none of the n/s with "
        "exactly (1 - 2^(1-s))^(n/s), n·2^(1-s) guesses are sure in the mean, and with probability at "
        "least 1 - 4/μ at least half of μ = (n/s)·2^(1-s) sets are revealed.",
    )
    paper.claim(
        "K13b",
        "Prop. D.6, 'only if'",
        f"{tight} only if s(n) = o(log n).",
        verdict="corrected",
        disproof=proofs.half_of_log2_is_tight_too,
        brute=sets.half_of_log2,
        at={"s": 2},
        breaks="""
        The last lines take 2^(-s(n)) = ω(1/n) to be the same as s(n) = o(log n). It is the same as log2 n -
        s(n) -> ∞, which s(n) = (1/2)·log2 n satisfies too. The line before, q = ω(1/n) if and only if 2^(-s)
        = ω(1/n), does not follow from -log q = Θ(s) either: the two bounds on q have different constants in
        the exponent.
        """,
        corrected=Correction(
            f"{tight} if and only if limsup s(n)/log2 n <= 1, where s(n) divides n.",
            verdict="proved",
            proof=proofs.threshold_is_log2,
        ),
        stands="That the logarithm is the right scale: s(n) = c·log2 n is tight for c <= 1 and not for c > "
        "1. At s = log2 n the sets that are fully revealed die out (2/s of them in the mean), and those "
        "nearly revealed still suffice.",
    )
    paper.claim(
        "K13c",
        "Proof of Prop. D.6",
        "s(n)·Bin(n/s(n), q(n)) tends to infinity in probability if and only if n·q(n) tends to infinity.",
        verdict="corrected",
        extra=True,
        disproof=proofs.revealed_with_mean_one,
        brute=sets.mean_one,
        at={"s": 2},
        breaks="The weak law of large numbers does not apply while the mean (n/s)·q of the binomial stays "
        "bounded: then no set may have a large loss, however large the sets are.",
        corrected=Correction(
            "If s(n) tends to infinity, it does so if and only if (1 - q(n))^(n/s(n)) tends to 0.",
            verdict="proved",
            proof=proofs.some_set_is_enough,
        ),
        stands="For bounded s(n) the step is right. The difference is a factor s in n, too small to move "
        "the threshold.",
    )
    paper.claim(
        "K13d",
        "Prop. D.6, in numbers",
        "The mean number of elements with loss at least ln 15 (posterior at least 15/16), for sets of size s = 4, "
        "8, 16, 32, is 2, 2, 34, 1058 if s = log2 n, and 1/2, 1/8, 17/128, 529/32768 if s = 2·log2 n.",
        verdict="holds-on",
        extra=True,
        instances=[
            {**sizes, **mean}
            for sizes, mean in zip(
                grid(c=(1, 2), s=(4, 8, 16, 32)),
                grid(mean=(2, 2, 34, 1058, "1/2", "1/8", "17/128", "529/32768")),
                strict=True,
            )
        ],
        check=sets.nearly_revealed,
        notes="Where n is at most 256 the engine's guesser with that threshold is compared as well.",
    )
    paper.row(
        "K13",
        "Prop. D.6",
        "Count-in-sets (counts of disjoint sets of size s(n)): one-run auditing is asymptotically tight if "
        "and only if s(n) = o(log n).",
        parts=("K13a", "K13b", "K13c", "K13d"),
        readings="Read as 'the threshold is of the order of log n', which the surrounding text suggests, it "
        "is true, and the constant is 1/ln 2.",
    )


def _full_knowledge(paper: Paper) -> None:
    paper.claim(
        "K14",
        "Prop. E.2",
        "XOR followed by randomized response, guesser that knows all the other bits: the number right is n "
        "with probability p(ε) and 0 otherwise,",
        verdict="proved",
        instances=grid(n=range(1, 7), lam=LAMS),
        quick=6,
        check=sets.all_or_none_right,
        proof=proofs.all_right_or_all_wrong,
    )
    paper.claim(
        "K15",
        "Prop. E.2",
        "The law of K14, n with probability p(ε) and 0 otherwise, stochastically dominates Bin(n, p(ε)).",
        verdict="corrected",
        instances=grid(n=range(1, 5), lam=LAMS),
        check=sets.dominates,
        brute=sets.dominates_again,
        at={"n": 2, "lam": "1/3"},
        minimal="smallest n, then the λ of smallest denominator",
        breaks="Both laws have the same mean n·p(ε), so one could only dominate the other if they were "
        "equal. V puts more weight on n and also on 0.",
        corrected=Correction(
            "For n >= 2 and 0 < ε < ∞ neither law dominates the other: P(V >= n) = p > p^n, P(V >= 1) = p < "
            "1 - (1-p)^n. Both have mean np.",
            verdict="proved",
            proof=proofs.neither_dominates,
        ),
        stands="The conclusion drawn from it, that full-knowledge auditing is not valid: that needs only "
        "that V is not dominated **by** Bin(n, p), and P(V = n) = p > p^n shows it. For p^n < β < p the "
        "reported bound is wrong with probability p.",
    )


def _sure(paper: Paper) -> None:
    paper.claim(
        "K16a",
        "Prop. E.7",
        "XOR-in-pairs: one-run efficacy is 1/2, and adaptive one-run auditing attains accuracy 1 with n/2 guesses.",
        verdict="proved",
        instances=grid(n=(2, 4, 6, 8)),
        check=sets.pairs_hide_and_reveal,
        proof=proofs.pairs_reveal_one_by_the_other,
        readings="Definition E.3 reveals the elements 'already guessed'; the guesser here abstains on the first "
        "element of each pair and is told it nevertheless, as in the printed proof. If only elements with a real "
        "guess are revealed see K16b.",
    )
    paper.claim(
        "K16b",
        "Prop. E.7, every bit guessed",
        "With n guesses the best adaptive accuracy is 3/4: the first bit of a pair is guessed by chance, the "
        "second is sure.",
        verdict="holds-on",
        extra=True,
        instances=grid(n=(2, 4, 6)),
        check=sets.all_guessed_adaptively,
    )
    paper.row(
        "K16",
        "Prop. E.7",
        "XOR-in-pairs: one-run efficacy is 1/2, and adaptive one-run auditing attains accuracy 1 with n/2 guesses.",
        parts=("K16a", "K16b"),
    )
    paper.claim(
        "K17a",
        "App. E.3.2",
        "Count, guessing only when certain: the expected number of guesses without adaptivity is 2^-(n-1).",
        verdict="corrected",
        instances=grid(n=range(1, 6)),
        check=sets.printed_sure_guesses,
        brute=sets.printed_sure_guesses_again,
        at={"n": 2},
        minimal="smallest n",
        breaks="2^-(n-1) is the probability that the count is 0 or n. In that case all n elements are "
        "certain and guessed, as the sentence before says, so R is n and not 1.",
        corrected=Correction(
            "It is n·2^-(n-1).",
            verdict="proved",
            instances=grid(n=range(1, 31)),
            quick=10,
            check=lambda n: sets.sure_guesses(n, n) == Fraction(n, 2 ** (n - 1)),
            proof=proofs.sure_guesses_of_count,
        ),
    )
    paper.claim(
        "K17b",
        "App. E.3.2",
        "Count, guessing only when certain: the expected number of guesses without adaptivity falls monotonically "
        "with n, to 0.",
        verdict="proved",
        instances=grid(n=range(1, 20)),
        quick=8,
        check=lambda n: sets.sure_guesses(n + 1, n + 1) <= sets.sure_guesses(n, n),
        proof=proofs.sure_guesses_fall,
        notes="Of the corrected value, in the sense of never rising.",
    )
    paper.claim(
        "K17c",
        "App. E.3.2",
        "The same, strictly from every n to the next.",
        verdict="corrected",
        extra=True,
        instances=grid(n=range(1, 6)),
        check=sets.sure_guesses_fall_strictly,
        brute=sets.sure_guesses_fall_strictly_again,
        at={"n": 1},
        minimal="smallest n",
        breaks="n·2^-(n-1) is 1 for n = 1 and for n = 2.",
        corrected=Correction(
            "It falls strictly from n = 2 on.",
            verdict="proved",
            instances=grid(n=range(2, 20)),
            quick=8,
            check=lambda n: sets.sure_guesses(n + 1, n + 1) < sets.sure_guesses(n, n),
            proof=proofs.sure_guesses_fall,
        ),
    )
    paper.row(
        "K17",
        "App. E.3.2",
        "Count, guessing only when certain: the expected number of guesses without adaptivity is 2^-(n-1), "
        "and it falls monotonically with n.",
        parts=("K17a", "K17b", "K17c"),
        readings="2^-(n-1) as the probability that any guess is made is right, and falls strictly.",
    )
    paper.claim(
        "K18",
        "App. E.3.2",
        "Count, guessing only when certain: adaptively the expected number of guesses is 2 - 2^-(n-1).",
        verdict="proved",
        instances=grid(n=range(1, 13)),
        quick=6,
        check=sets.adaptive_sure_guesses,
        proof=proofs.adaptive_sure_guesses_of_count,
    )
    paper.claim(
        "K19a",
        "App. E.3.2",
        "For sets of size 10 the expected number of sure guesses per set is about 1.998 adaptively.",
        verdict="proved",
        instances=grid(n=(10,)),
        check=sets.adaptive_sure_guesses,
        proof=proofs.ten_elements_adaptively,
    )
    paper.claim(
        "K19b",
        "App. E.3.2",
        "For sets of size 10 the expected number of sure guesses per set is about 0.002 without adaptivity.",
        verdict="corrected",
        instances=grid(s=(10,)),
        check=sets.about_two_thousandths,
        brute=sets.about_two_thousandths_again,
        at={"s": 10},
        minimal="the printed size",
        breaks="The value follows the formula of K17; 2^-9 is about 0.002 and is the probability that a set "
        "is revealed.",
        corrected=Correction(
            "It is 10·2^-9 = 5/256, about 0.020.",
            verdict="proved",
            instances=grid(s=(10,)),
            check=lambda s: sets.sure_guesses(s, s) == Fraction(5, 256),
            proof=proofs.ten_elements,
        ),
        stands="The point of the example: adaptivity makes about a hundred times as many sure guesses "
        "(102.3 times, not a thousand times).",
    )
    paper.row(
        "K19",
        "App. E.3.2",
        "For sets of size 10 the two are about 0.002 and 1.998.",
        parts=("K19a", "K19b"),
    )
