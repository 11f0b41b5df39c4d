"""The scoring engine: what prompts have in common is computed once (docs/performance.md)."""
