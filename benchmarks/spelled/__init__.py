"""Mechanisms of the literature, one a file, each in several spellings: what `spellings.py` measures."""
