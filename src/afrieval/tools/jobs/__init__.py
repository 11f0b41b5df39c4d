"""Jobs: each loads one model and runs a share of the cells of its runs, on this machine or elsewhere."""
