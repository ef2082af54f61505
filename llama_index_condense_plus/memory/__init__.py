"""Conversations that outlast the context window: the rolling summary."""
