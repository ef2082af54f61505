"""What is kept beside a conversation's messages: a rolling summary, what was searched in each turn, shared locks."""
