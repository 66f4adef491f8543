"""The commands: one module each, with `add_arguments` and `run`, imported when the command is asked for.

In: parsed options. Out: an exit status. May import everything but each other.
"""
