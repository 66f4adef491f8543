"""What a run changes in the module, the next run does not see, and no answer is made of it."""

from __future__ import annotations

import pytest

from agreement import module_of
from tightdp import Bit
from tightdp.errors import LanguageError
from tightdp.language import interp
from tightdp.language.program import Program
from tightdp.session.instances import bound_to

HEAD = "import random\nimport numpy as np\nKNOWN, SEEN, COUNTS = {}, [0], np.zeros(2, int)\n"
PROGRAMS = {
    "dictionary": "if x[0] not in KNOWN:\n        KNOWN[x[0]] = x[0] ^ random.getrandbits(1)\n    return KNOWN[x[0]]",
    "list": "SEEN[0] += random.getrandbits(1)\n    return SEEN[0] + x[0]",
    "array": "COUNTS[0] += random.getrandbits(1)\n    return COUNTS[0] + x[0]",
}


@pytest.mark.parametrize("floats", [0, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_begin_with_the_module_as_it_is(name: str, floats: int) -> None:
    with module_of(f"{HEAD}def f(x):\n    {PROGRAMS[name]}\n") as module:
        program = Program(module.f, Bit, floats=floats)
        law = interp.law(program.bind(1), (0,))
        assert law is not None
        assert set(law) == {0, 1}
        assert set(law.values()) == {law[0]}
        assert (module.KNOWN, module.SEEN, list(module.COUNTS)) == ({}, [0], [0, 0])
        with pytest.raises(LanguageError, match="of the enclosing module cannot be changed"):
            bound_to(program, None, 1, {}).privacy()
