"""The command line: commands, their options, and how words become settings."""
