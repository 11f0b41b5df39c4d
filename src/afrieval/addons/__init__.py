"""What not everybody needs: each enters as another package does, by entry points in pyproject.toml.

Nothing outside of this folder imports it, and everything else works without it.
"""
