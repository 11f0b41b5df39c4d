"""What is asked: declarations of benchmarks, their data, prompts, and the cells of a run."""
