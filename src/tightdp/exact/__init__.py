"""Numbers: rationals as people write them, e^q, functions of an unknown, enclosures that round outward, reals.

In: text, rationals. Out: exact numbers and intervals that contain them. Imports nothing but `errors`; knows nothing of
privacy.
"""
