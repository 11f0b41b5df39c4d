"""What a model remembers of the test sets of other tasks."""
