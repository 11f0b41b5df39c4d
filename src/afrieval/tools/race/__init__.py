"""`afrieval race` and `eval.until`: samples that grow until they say which model is best, or how good one is."""
