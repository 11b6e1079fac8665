"""Many clients, many writers, many studies, against a real service: `make load`."""
