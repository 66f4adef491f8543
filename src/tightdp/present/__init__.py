"""How answers are shown: text, tables, HTML, plots, diagrams.

In: views of results. Out: strings and pictures. May import `exact` and `logic`.
"""
