"""Numbers: rationals as people write them, enclosures that round outward, polynomials, certified reals.

In: text, rationals. Out: exact numbers and intervals that contain them. Imports nothing but `errors`; knows nothing of
privacy.
"""
