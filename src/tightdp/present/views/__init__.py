"""What is seen of results: one file for each file of `results/`, of the same name.

In: results. Out: views, JSON and pictures, registered by type. May import `present.registry`, `present.words` and below.
"""
