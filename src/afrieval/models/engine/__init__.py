"""Scores and generates with a model of transformers, and computes once what prompts have in common.

The engine knows torch, transformers and lm_eval, and nothing else of the suite. `requests.py` is its interface: a
request is the tokens of a context and of an answer, and a model is lm_eval's `HFLM` as far as `EngineModel` says.

* Likelihoods: `likelihood.py` builds a tree of all prompts (`tree.py`) and runs it pack by pack (`forward.py`, with
  the attention of `tree_attention.py`); `logits.py` reads the answers. Encoder-decoders take `padded.py`.
* Generation: `generation.py` writes answers in slots of a cache, with the attention of `decode_attention.py`.
* Sizes: `packs.py` chooses them by `memory_estimate.py`, and halves them when memory runs out.
* Safety: `support.py` compares the engine with lm_eval's own answers before a model is used.

docs/performance.md has measurements.
"""
