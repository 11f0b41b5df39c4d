"""Derived metrics of suites, and the runs and scores that they are compared with."""
