"""The border that every file crosses on its way in: a path, its bytes, YAML or JSON, and a schema."""
