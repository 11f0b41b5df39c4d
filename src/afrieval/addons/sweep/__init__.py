"""`afrieval sweep`: models, suites and settings in all combinations, as jobs."""
