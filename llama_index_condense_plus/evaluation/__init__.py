"""Proving it: cases that ship, checkers, metrics, a runner for any engine, and a report."""
