"""Language data, and the text functions that every stage shares."""
