"""What a turn lets others see: events, the trace, the rewrite log."""
