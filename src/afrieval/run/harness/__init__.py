"""Tasks of lm-evaluation-harness itself, run and stored like ours."""
