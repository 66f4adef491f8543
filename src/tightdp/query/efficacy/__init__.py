"""One-run auditing, exactly: what a guesser can learn of uniform secret bits from one output (keinan2025)."""
