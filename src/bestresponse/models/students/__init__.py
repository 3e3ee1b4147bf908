"""Models that were trained here: a transformer of the Llama family in PyTorch (extra `train`)."""
