"""What the span of a turn holds, whichever exporter records it."""

TURN_EVENTS = [
    "TriggerDecisionEvent",
    "TurnProgressEvent",  # rewriting
    "RewriteEvent",
    "QueryPlanEvent",
    "TurnProgressEvent",  # searching
    "FusionEvent",
    "TurnEvent",
]
"""What the span of a rewritten turn holds; the third progress, answering, is in the query engine's span."""
