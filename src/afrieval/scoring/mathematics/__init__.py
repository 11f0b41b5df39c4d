"""Whether two mathematical answers are the same."""
