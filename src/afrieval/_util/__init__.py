"""Everything that parses and validates files: paths, bytes, YAML, JSON, delimited text and schemas."""
