"""`hub:ORG/NAME` and `file:FILE`: a task for a data set that no task declares."""
