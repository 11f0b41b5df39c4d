"""Doing it: plans of cells, a run from its first cell to its last, and scoring again."""
