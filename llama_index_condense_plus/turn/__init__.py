"""The turn: written once, driven synchronously or asynchronously."""
