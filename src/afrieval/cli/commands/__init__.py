"""A module per command, which parses its options, calls what does the work, and prints."""
