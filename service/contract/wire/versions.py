"""Which versions work together: a header says who asks and in which version, another which one answers."""

from __future__ import annotations

import re
from typing import NamedTuple

VERSION = "Paretoscope-Version"  # of a request: client/0.2.0, driver/0.2.0 or trial/0.2.0; of an answer: 0.2.0
RULE = "the first two numbers have to be the same"
SENDERS = {"client": "this client", "driver": "the driver on Ray", "trial": "a trial's process on Ray"}
SAID = re.compile(r"(?:(client|driver|trial)/)?((\d{1,6})\.(\d{1,6})(?:[.+\-a-z][\w.+\-]{0,40})?)")


class Disagreement(NamedTuple):
    """Who asks in a version that the service does not work with, and what to do about it."""

    sender: str
    words: str


def disagreement(own: str, said: str) -> Disagreement | None:
    """None where the service, which is `own`, works with who `said` this of itself.

    Numbers of a release after the second mend mistakes; those before it may change what is sent.
    """
    parsed, mine = SAID.fullmatch(said), SAID.fullmatch(own)
    if parsed is None or mine is None:
        return Disagreement("client", f"{VERSION} is a version such as client/0.2.0, got {said[:60]!r}")
    theirs, ours = (tuple(int(number) for number in each.group(3, 4)) for each in (parsed, mine))
    if theirs == ours:
        return None
    sender = parsed[1] or "client"
    age = "older" if theirs < ours else "newer"
    where = "where it runs" if sender == "client" else "on Ray's nodes"
    advice = f"Install paretoscope {_short(ours)} {where}"
    if theirs > ours:
        advice += f", or upgrade the service to {_short(theirs)}"
    words = f"{SENDERS[sender]} has paretoscope {parsed[2]}, which is {age} than the service's {own}: {RULE}. {advice}"
    return Disagreement(sender, words)


def _short(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
