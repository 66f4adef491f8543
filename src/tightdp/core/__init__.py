"""The core program: a finite dataflow graph over finite random variables; `lowering` makes it from Python source.

In: a bound mechanism. Out: a checked core program. May import `language` and what it imports.
"""
