"""What `tasks/<task>/task.yaml` and the files next to it may say, and what they mean."""
