"""Figures of a run, each computed for every case; libraries do what they are known for."""
