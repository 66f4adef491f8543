"""The report on an instance as one page of HTML: `page.py` puts it together, `charts.py` draws, `style.py` dresses it.

In: a `Report`. Out: HTML with its style and pictures inside, without scripts. May import results and this package's
parent.
"""
