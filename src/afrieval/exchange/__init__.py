"""Other programs, in and out: their results as cells, our results in their formats."""
