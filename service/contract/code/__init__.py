"""A user's own code as others see it: what is in it, and the problems that a study may name of it."""
