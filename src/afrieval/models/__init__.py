"""Who is asked: backends, how models are loaded and checked, and the answers that they gave."""
