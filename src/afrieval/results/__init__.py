"""A run on disk: its schema, its folder, its samples, and the one table of scores."""
