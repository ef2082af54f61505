"""The gate: decides without a model whether a message needs the conversation to be understood."""
