"""P(y|x) for one dataset and one output of randomized response on N clients: python benchmarks/probability.py N"""

import json
import runpy
import sys
from pathlib import Path

program = Path(__file__).resolve().parent.parent / "programs" / "randomized_response.py"
n = int(sys.argv[1])
x = tuple(i % 2 for i in range(n))
y = tuple(int(i % 3 == 0) for i in range(n))

instance = runpy.run_path(str(program))["randomized_response"].bind(n=n, lam="1/5")
probability = instance.probability(x, y)
# The logarithm of its size: the number itself has thousands of digits.
print(json.dumps({"answer": probability.numerator.bit_length() - probability.denominator.bit_length()}))
