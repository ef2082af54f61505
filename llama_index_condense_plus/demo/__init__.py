"""The demonstration: a small knowledge base, scripted conversations, and what each turn finds and why."""
