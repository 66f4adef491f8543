"""From output laws to answers: privacy, curves, accuracy."""
