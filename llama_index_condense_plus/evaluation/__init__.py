"""Cases, metrics and reports that compare chat engines on multi-turn retrieval."""
