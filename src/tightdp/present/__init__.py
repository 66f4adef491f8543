"""How results are shown: text, tables, HTML, CSV, plots, diagrams; the only place with sentences about them.

In: results. Out: strings and pictures, by `show.py`. May import `results` and below.
"""
