"""From a follow-up to a standalone question that can be trusted. Pure: no I/O, no threads, no event loop."""
