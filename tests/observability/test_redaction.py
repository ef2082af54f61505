import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.observability.redaction import redact


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("write to a.b+c@mail.example.co.uk now", "write to <email> now"),
        ("电话13800138000，急", "电话<phone>，急"),
        ("打给１３８００１３８０００", "打给<phone>"),
        ("+86 138 0013 8000", "<phone>"),
        ("call (415) 555-2671 or +1 415 555 2671", "call (<phone> or <phone>"),
        ("身份证11010519491231002X。", "身份证<id>。"),
        ("card 4111 1111 1111 1111", "card <card>"),
        ("卡号 6222 0212 3456 7890 123", "卡号 <card>"),
        ("4111111111111111", "<card>"),
    ],
)
def test_redact_masks_what_identifies_a_person(text: str, masked: str) -> None:
    assert redact(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "2023年营收 1234567890 元",
        "order 20230405123",
        "GTE-3000 v1.2.3, released 2024-01-02 10:30",
        "第3条，100-200 元",
        "error 0x80070005 at 192.168.0.10",
        "4111111111111112",
    ],
)
def test_redact_leaves_amounts_dates_and_codes(text: str) -> None:
    assert redact(text) == text


@given(st.text())
def test_redact_never_raises(text: str) -> None:
    assert isinstance(redact(text), str)
