"""IFEval: whether a response follows the instructions of its prompt."""
