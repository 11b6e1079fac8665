"""Sequences of requests against a real service, and how it is afterwards: `make fuzz`."""
