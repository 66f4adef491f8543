"""The language: Python functions with random primitives, their domains, laws and meaning."""
