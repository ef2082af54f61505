"""Ask, follow up, and see what was searched and why."""

from shop import BY_RULES, index, quoting

from llama_index_condense_plus import CondensePlusChatEngine

QUESTIONS = ("How much does the Kestrel drone cost?", "And its warranty?", "红隼无人机多少钱？", "那它的保修期呢？")


def main() -> None:
    """Run the example."""
    query_engine = quoting(index().as_retriever(similarity_top_k=2))
    engine = CondensePlusChatEngine.from_defaults(query_engine, settings=BY_RULES)
    for question in QUESTIONS:
        response = engine.chat(question)
        trace = engine.trace_of(response)
        print(question)
        print("  searched:", trace.search_query)
        print("  because: ", trace.decision.reason.value)
        print("  answer:  ", response)


if __name__ == "__main__":
    main()
