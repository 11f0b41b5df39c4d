"""The version of the suite; pyproject.toml reads it."""

__version__ = "0.2.0"
