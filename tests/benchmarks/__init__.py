"""`make bench`: claims about speed, as ratios within one run."""
