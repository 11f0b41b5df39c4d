"""Scores and generates with a model of transformers, and computes once what prompts have in common.

The engine knows torch, transformers and lm_eval, and nothing else of the suite; README.md says where to read.
"""
