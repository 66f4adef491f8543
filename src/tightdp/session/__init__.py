"""Mechanism, instance, and the questions that are asked on it; ties the packages below together.

In: what the user asks. Out: results. May import everything but `claims` and `cli`.
"""
