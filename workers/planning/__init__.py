"""Which trials train next, and together.

`cohorts` plans what is known from the start, `suggest` asks and tells Optuna, `supply` makes cohorts of both as they
are wanted; `past` is what the log already has.
"""
