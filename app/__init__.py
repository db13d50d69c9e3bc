"""Tilewise: online softmax and FlashAttention, one step at a time."""

__version__ = "0.1.0"
