"""What numbers say: means, contrasts, ranks, leaderboards and verdicts."""
