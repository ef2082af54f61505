"""From a standalone question to merged nodes: plan, variants, fusion, retriever."""
