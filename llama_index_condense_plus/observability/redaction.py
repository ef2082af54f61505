"""Masking what identifies a person before words are logged."""

from __future__ import annotations

import re
import unicodedata

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", re.ASCII)
_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()\-]{0,2}\d){6,18}[Xx]?(?![\w])", re.ASCII)
_CHINESE_MOBILE = re.compile(r"(?:\+?86)?1[3-9]\d{9}")
_CHINESE_ID = re.compile(r"[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]")
_DATE = re.compile(r"(?:19|20)\d{2}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])\b")
_GROUPED_CARD = re.compile(r"(?:\d{4}[ -]){3,4}\d{1,4}")
MIN_PHONE_DIGITS = 10
"""Shorter runs of digits are more often amounts, years and order numbers than telephone numbers."""
CARD_DIGITS = range(13, 20)
"""Digits of a payment card (ISO/IEC 7812)."""


def redact(text: str) -> str:
    """Return the text with e-mail addresses, phone, identity and card numbers masked; full-width digits count too.

    Args:
        text: any text.

    Example:
        >>> redact("打给１３８００１３８０００，或写信给 a.b@example.com")
        '打给<phone>，或写信给 <email>'
    """
    narrow = "".join(unicodedata.normalize("NFKC", c) if "！" <= c <= "～" and c.isalnum() else c for c in text)
    return _NUMBER.sub(lambda match: _mask(match.group()), _EMAIL.sub("<email>", narrow))


def _mask(found: str) -> str:
    digits = re.sub(r"[^\dXx]", "", found)
    if _CHINESE_ID.fullmatch(digits):
        return "<id>"
    if _CHINESE_MOBILE.fullmatch(digits):
        return "<phone>"
    if len(digits) in CARD_DIGITS and (_GROUPED_CARD.fullmatch(found) or (digits.isdigit() and _luhn(digits))):
        return "<card>"
    if _DATE.match(found):
        return found
    if found.startswith("+") or (len(digits) >= MIN_PHONE_DIGITS and re.search(r"[ ()\-]", found)):
        return "<phone>"
    return found


def _luhn(digits: str) -> bool:
    """Return True if a card number's check digit is right (ISO/IEC 7812-1, annex B)."""
    doubled = [int(d) * 2 if i % 2 else int(d) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0  # noqa: PLR2004
