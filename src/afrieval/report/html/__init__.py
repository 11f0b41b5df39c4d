"""Pages for a browser: reports of runs, and leaderboards."""
