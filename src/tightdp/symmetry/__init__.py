"""Symmetries of a program: coloured graph, candidates, confirmation on the diagram, orbits of datasets and pairs.

In: a core program and its formula. Out: sets of datasets and pairs that suffice. May import `logic` and below.
"""
