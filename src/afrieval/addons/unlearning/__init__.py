"""TOFU and MUSE, which measure what a model has unlearnt, as open-unlearning and TOFU's own code have their results."""
