"""What is seen of results: one file for each file of `results/`, of the same name.

In: results. Out: views, JSON and pictures, registered by type. May import the rest of `present` but its entries.
"""
