"""Noise on all integers, made finite without changing what the program means.

In: the operations that a lowering made on values with unbounded noise. Out: a finite law for each such draw.
May import `exact`, `language` and the nodes and the builder of `core`.
Where the argument is written down: docs/unbounded-noise.md.
"""
