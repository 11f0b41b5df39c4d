"""From an answer to a number: extractors, measures, metrics and derived metrics."""
