"""The commands: `run` answers the options of one. `question.py` has those that ask an instance, the others stand apart.

In: parsed options. Out: an exit status. May import everything.
"""
