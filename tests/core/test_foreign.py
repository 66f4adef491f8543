# ruff: noqa: E501
"""Functions of libraries that the language does not have, computed for all that they may be given."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import Bit, Int, Values
from tightdp.errors import LanguageError, ProgramError
from tightdp.language.program import Program
from tightdp.methods.compiled import compile_symbolic

HEAD = (
    "import bisect\nimport functools\nimport heapq\nimport itertools\nimport logging\nimport math\nimport operator\nimport os\nimport random\nimport re\n"
    "import statistics\nimport threading\nfrom scipy import stats\n"
    "import numpy as np\nfrom scipy.special import expit, logsumexp, softmax\nnoisy = np.frompyfunc(lambda v: random.random(), 1, 1)\n"
    "LOG = logging.getLogger()\n\n\n@functools.lru_cache\ndef remembered(v):\n    return v ^ random.getrandbits(1)\n\n\n"
)

IN_DOUBLES = {
    "softmax": "return np.random.default_rng().choice(3, p=softmax(0.5 * np.bincount(np.array(x), minlength=3)))",
    "of-a-list": "w = softmax([0.5 * v for v in x])\n    return random.random() < w[0], logsumexp(x) > 1.5",
    "law": "return random.random() < stats.norm.cdf(x[0] - x[1])",
    "ufunc": "return random.random() < expit(x[0] - x[1])",
    "draws": "k = random.getrandbits(2)\n    return np.median(np.array([k, x[0]])), np.std(np.array([k, x[1]])) > 0.6",
    "keywords": "a = np.array(x)\n    return np.var(a, ddof=1), np.sum(a, where=a > 0), np.round(a / 3, 1)",
    "matrices": "a = np.array([[1.0, 0.5], [0.25, 2.0]]) @ np.array(x)\n    return np.array(x).dot([0.5, 0.25]), a, np.bincount(np.array(x), weights=np.array(x) / 2)",
    "raises": "try:\n        return statistics.mean([v for v in x if v > 0])\n    except statistics.StatisticsError:\n        return 'none'",
    "not-a-number": "try:\n        return np.linalg.inv(np.array([[x[0], x[1]], [1.0, 1.0]]))\n    except np.linalg.LinAlgError:\n        return 'singular'",
}  # fmt: skip
EXACT = {
    "strings": "s = 'ab' if random.getrandbits(1) else 'c'\n    return s.upper() + '-'.join([s, 'z']), s.find('b'), '{}:{}'.format(s, x[0]), '%s-%d' % (s, x[1]), ''.join('ab'[v % 2] for v in x), s.count('b')",
    "bisect": "return bisect.bisect([1, 2, 5], x[0] + random.randint(0, 1)), max(heapq.nlargest(2, list(x)))",
    "shapes": "return tuple(re.findall('a', 'ab' * x[0] + 'a')), statistics.mode(x)",
    "inverse": "values, places = np.unique(np.array([x[0], 3 + x[1]]), return_inverse=True)\n    return len(values), places",
    "known": "return math.sqrt(4) + x[0], statistics.median([1, 2])",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [*IN_DOUBLES, *EXACT])
def test_it_is_what_the_library_computes_on_every_run(name: str) -> None:
    body = {**IN_DOUBLES, **EXACT}[name]
    with module_of(f"{HEAD}def f(x):\n    {body}\n") as module:
        bound = Program(module.f, Int(0, 2), floats=3 if name in IN_DOUBLES else 0).bind(2)
        assert assert_agreement(bound, ("cudd",)).failing == 0


def test_runs_fail_where_it_raises_and_no_others() -> None:
    with module_of(f"{HEAD}def f(x):\n    return statistics.mode([v for v in x if v > 0])\n") as module:
        bound = Program(module.f, Bit).bind(2)
        assert assert_agreement(bound, ("cudd",)).failing == 1
        with pytest.raises(ProgramError, match="StatisticsError: no mode for empty data"):
            compile_symbolic(bound)


@pytest.mark.parametrize(
    ("body", "said", "hint"),
    [
        ("return math.sqrt(x[0])", "math.sqrt is not in the language", "--floats"),
        ("return os.getpid() % 2", "os.getpid is not in the language", "a run depends on its records and its draws"),
        ("return os.urandom(1)[0]", "os.urandom is not in the language", "draw with the generators"),
        ("a = np.array(x)\n    np.put(a, [0], [3])\n    return a", "np.put changes what it is given", "loop"),
        ("a = np.array(x)\n    np.real(a)[0] = 3\n    return a", "np.real gives lists or arrays", "indices"),
        (
            "a = [[v] for v in x]\n    operator.concat(a, a)[0].append(3)\n    return len(a[0])",
            "operator.concat gives",
            "indices",
        ),
        ("return tuple(heapq.merge([0], [1]))", "heapq.merge gives generator, which is not", "arguments"),
        ("return noisy(x[0])", "not in the language", "constants"),
        ("return remembered(x[0])", "remembered, whose results are kept for the next run, is not in", "without draws"),
        ("t = threading.Thread(target=min)\n    return 0", "threading.Thread is not", "one thing after the other"),
        ("LOG.info('%s', x)\n    return 0", "the method .info() is not in the language", "the log"),
        ("np.random.seed(1)\n    return 0", "np.random.seed is not in the language", "leave it out"),
        (
            "for k in itertools.count():\n        if flip('1/2'):\n            return k",
            "no bound on the rounds",
            "count the rounds",
        ),
        ("return int(stats.norm.rvs())", "the method .rvs() is not in the language", "draw with the generators"),
        (
            "return re.compile('a' * x[0]).pattern",
            "re.compile gives Pattern, which is not in the language",
            "dictionary",
        ),
    ],
)
def test_what_is_no_function_of_its_arguments_is_refused(body: str, said: str, hint: str) -> None:
    with module_of(f"{HEAD}def f(x):\n    {body}\n") as module, pytest.raises(LanguageError) as caught:
        compile_symbolic(bind(module, Bit, 2))
    assert said in caught.value.what
    assert hint in caught.value.hint
    assert caught.value.span is not None


def test_strings_of_records() -> None:
    with module_of("def f(x):\n    return x[0].strip('a').title(), x[0].split('b')[0]\n") as module:
        assert_agreement(bind(module, Values("abc", "cab"), 1), ("cudd",))
