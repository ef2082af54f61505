"""Multi-turn RAG in LlamaIndex that finds the right passage."""
