"""COMET, which scores stored translations by a trained network."""
