"""Trust in rewrites: what a rewrite keeps of the message, what it adds, and whether that was ever said."""
