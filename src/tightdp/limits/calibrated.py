"""Numbers that decide how much work is done: each with its unit and how it was calibrated.

Those of one module alone stand there. They decide which way is taken and when a way gives up, never what an answer is.
Work is counted, not timed: the same question does the same on every machine.
"""

from __future__ import annotations

# Limits

GRACE = 0.9
"""Seconds that a child has to send what it knows, from when it should stop: limits of time hold to two seconds."""
TICK = 0.1
"""Seconds between two looks at the limits: each takes some 20 microseconds."""
NODES_PER_STEP = 5
"""Nodes of a diagram that are made in the time of one step of other code."""


# Numbers, language, symmetry and diagrams

QUICK_BITS = 64
"""Bits with which balls begin, twice as many where a number is compared often: most comparisons need no more."""
MAX_EXPONENT = 10_000
"""The largest |E| for which e^E is enclosed, and the largest power in an expression: its digits alone fill pages."""
MAX_DEGREE = 1_000_000
"""The largest power of e^(1/d), d the common denominator of all exponents, that is written as a polynomial: 8 MB."""
MAX_DATASETS = 1 << 20
"""Datasets that are gone through one by one: a minute or two."""


# Lowering and the core program

OPERATION_COMBINATIONS = 1 << 20
"""Combinations of values that one operation, or one pass over a draw, computes: about a second."""
TABLE_ENTRIES = 1 << 12
"""Entries of one law or table of values that stands for what would be computed: written down in milliseconds."""
DOUBLE_EVALUATIONS = 1 << 16
"""Numbers, or ranges of numbers, that are computed in doubles for one question about a draw of random(): seconds."""
FEW_VALUES = 64
"""Values, terms or states that are looked at one by one whatever else there is: not to be noticed."""
LOOP_ROUNDS = 1_000
"""Rounds that are unrolled of a loop whose end depends on the run; 100 times as many that all runs make, a
tenth where the loop makes the list longer that it goes over."""
LOOP_STATES = 2_000
"""States of a loop from which a round is lowered: some milliseconds each."""
LONG_LOOP = 8
"""Rounds, then twice as many, and so on, after which it is seen whether there is a better way to go on."""
LOOP_GROWTH = 3
"""States by which a loop that could be unrolled may grow in a round: more are unrolled sooner than followed."""
CALL_DEPTH = 200
"""Calls that may nest, within Python's own limit on the depth of calls."""


# Noise on all integers, and proofs for every n

PROOF_STATES = 300
"""States of a program that is read for every n, for each way to go through its records: seconds for every rule."""
PROOF_RUNS = 20_000
"""Runs of one record, or of what is around the records, that are followed for every n: some ten seconds."""
NOISE_FARTHEST = 1 << 24
"""Numbers that noise on all integers meets are smaller: it is looked at up to there, integer by integer."""
NOISE_BITS = 80
"""Noise that is cut off is further out with a probability of 2 to the power of minus this: below any ε of interest."""


# Methods

FEW_DATASETS = 256
"""Datasets, states, weights or contents that are gone through one by one: symmetries of so few do not pay."""
LITTLE_WORK = 100_000
"""Steps, each about a microsecond, that are not worth an estimate: methods that need fewer are tried in their order."""
ALLOWED = 4
"""How many times its estimate a method may take before it hands over to the one with the next larger estimate."""
MUCH_WORK = 8_000_000
"""Steps spent on what an answer can do without, as symmetries that are only shown: some seconds."""
MOST_WORK = 1 << 28
"""Steps beyond which there is no estimate any more: what is left is tried without a limit of its own."""
NO_LIMIT = 1 << 60
"""More steps than anything needs."""
CELL_STEPS = 16
"""Steps that a combination of values of operands costs a diagram, at least."""
DRAW_STEPS = 40
"""Steps that a draw costs a diagram besides those for its outcomes: 10,000 coins take three quarters of a second."""
NODE_STEPS = 5
"""Steps that a node of a diagram costs."""
ENTRIES_IN_ONE = 8
"""Probabilities of laws of counts of records in the time of one step."""
VALUE_STEPS = 6
"""Steps for the law of the output given one value of the aggregates."""
DOUBLES_AT_ONCE = 1 << 25
"""Doubles, machine integers, or cells of tables and diagrams that are held at a time: 256 MB."""
MOST_ENTRIES = 1 << 22
"""Entries of one table, or of the maps between the blocks of a chain, that are worked out: some four seconds."""
PAIR_STEPS = 40
"""Steps for comparing the laws of one pair of neighbours."""
CHANGE_STEPS = 80
"""Steps for comparing the joint laws of the parts of an output that a change of one record changes."""
ROWS_IN_ONE = 128
"""Rows of a column of elimination in the time of one value computed by itself, a microsecond: the unit of its work."""
STEP = 64
"""Values computed one by one in the time of one step of elimination, even without any rows."""
PLAN_WIDTH = 20_000_000
"""Columns of a plan of elimination, summed over its steps: making a wider one takes seconds."""
CHEAP_PLAN = 18
"""Where at most 2 to this power rows are made, no other order is tried: they take as long as another plan."""
WIDE_PLAN = 40
"""Where at most 2 to this power rows may be made, the order by need is taken for a chain without another look."""


# Questions and results

ENCLOSURE_WORK = 100_000_000_000
"""Products of doubles for one enclosure over all datasets of many records: some forty seconds, then its ends stand."""
WIDEST_LETTER = 4_096
"""Distance of two values that one record may add to an enclosed sum: laws of a million records stay below 1 GB."""
NOISE_WEIGHTS = 4_000_000
"""Doubles kept of the noise that all records of an enclosed sum share, for all numbers of draws: 32 MB."""
GRID_CELLS = 12_000_000
"""Cells of a grid of directions, of which one in sixty is filled: 100 MB; the next finer grid is not tried."""
COMPOSITION_BITS = 1 << 30
"""Bits of all probabilities of an exact composition: some ten seconds; beyond, it is enclosed on a grid."""
COMPOSITION_PLACES = 1 << 14
"""Grid points of the losses of an enclosed composition: a second for 300 runs, ends within 1e-10."""
ADAPTIVE_STATES = 6_000
"""Likelihood ratios of runs whose neighbours are chosen by the outputs so far: some two seconds."""
MOST_PAIRS = 8
"""Pairs of neighbours that such a choice has, or that give the lower end where none dominates: a second each."""
REFINEMENTS = 12
"""Times that a linear program is solved in floats, each with nine digits more: probabilities down to 1e-100."""
DESIGN_TRIPLES = 1 << 16
"""Neighbours and outputs over which an optimum is looked for: some seconds each time that they are told apart."""
DENSE_SYSTEM = 24
"""Unknowns in the shortest equation of an exact system, from which on it is solved as a dense one."""


# Sessions

LISTED_MASSES = 2_000_000
"""Probabilities in the laws of all datasets, or outputs of one: beyond, answers are enclosed, and laws are computed
again when needed. Kept they take some 200 MB. Not measured anew."""
LISTED_ROWS = 20_000
"""Datasets up to order, centres of noise, pairs of neighbours, runs of a dataset that are listed. Not measured anew."""


# Audits and claims

AUDIT_STATES = 1 << 18
"""Outputs, states of knowledge, or nodes of a function, that one audit keeps at most; one for four limits of 2^16 to
400,000, none of which a recorded question meets."""
AUDIT_TABLE = 50_000
"""Entries of a table that is written down whole: pair vectors that are tried, counts of secret bits by class; the
largest of four limits from 2^14 on."""
GUESSES_ON_CURVES = 2000
"""Guesses up to which the optimum on a smooth trade-off function is found in doubles: some two seconds at 1,500."""
MOST_GUESSES = 1_000_000
"""Guesses that an audit may have: the optimal method takes some five seconds for a tenth of them."""
AUDIT_ROUNDS = 12
"""Rounds of a search in doubles for an optimal audit, and pairs that each may add; 28 rounds gave no tighter ends."""
AUDIT_SLOPES = 240
"""Tangents that stand for a smooth trade-off function: the ends of a p-value are 2.4e-5 of it apart at 300 guesses."""
