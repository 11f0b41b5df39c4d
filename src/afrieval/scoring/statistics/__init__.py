"""Intervals, standard errors and tests; pure functions of arrays."""
