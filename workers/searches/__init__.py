"""Searches: which values the next trials of an arm get, from what the last ones reached.

`suggest` asks and tells Optuna, `supply` makes cohorts of planned and suggested trials, `cohort_searcher` hands
them to Ray Tune.
"""
