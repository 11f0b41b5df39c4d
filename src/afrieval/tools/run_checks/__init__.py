"""`afrieval check-runs`: what keeps runs from a public board."""
