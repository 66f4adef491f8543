"""Random programs that are mostly well typed: texts, None, tuples, lists of anything, parameters.

In: a source of random decisions. Out: parts of the text of a program. Imports nothing but the standard library.
"""
