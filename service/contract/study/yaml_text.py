"""YAML as people write studies: read once, in C, with limits on its size, and with the line of every part.

Composed here from the parser's events: the C library's own composer recurses as deep as a text is nested, and aliases
can blow up a small text. Tags and directives are refused: a study needs none, the parser compares each %TAG with all
before it, and a value that is forced into a type may be none of it.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

DEEPEST = 50
BREAK = r"(?:\r\n|[\r\n\x85\u2028\u2029])"  # what ends a line for the parser
FIRST_DIRECTIVE = re.compile(rf"\ufeff?(?:[ \t]*(?:#[^\r\n\x85\u2028\u2029]*)?{BREAK})*+%")  # below comments at most
LATER_DIRECTIVE = re.compile(rf"{BREAK}%")
MOST = 50_000  # keys and values; a grid of as many values as a study may have trials, twice over

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same events, slower, where libyaml is missing


class _Meaning(yaml.SafeLoader):
    """With the numbers of YAML 1.2: `1e-3` is a number, and `1:59` is none: base 60 costs a quadratic time to read."""


INTEGER = "tag:yaml.org,2002:int"
FLOAT = "tag:yaml.org,2002:float"
_Meaning.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] not in (INTEGER, FLOAT)]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Meaning.add_implicit_resolver(
    INTEGER,
    re.compile(r"^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+)$"),
    list("-+0123456789"),
)
_Meaning.add_implicit_resolver(FLOAT, re.compile(r"^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$"), list("-+."))

_Meaning.add_implicit_resolver(
    FLOAT,
    re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"),
    list("-+0123456789."),
)
# Integers first: the resolver above also matches "20".
for first in "-+0123456789":
    _Meaning.yaml_implicit_resolvers[first].sort(key=lambda pair: pair[0].endswith(":float"))


def compose(text: str) -> yaml.Node | None:
    """The text's tree; none where it is empty. Raises yaml.YAMLError."""
    return _Composer(text).document()


def value_of(root: yaml.Node | None) -> Any:
    """What a tree says, as plain values."""
    return None if root is None else _Meaning("").construct_document(root)


class _Composer:
    def __init__(self, text: str) -> None:
        self._text, self._parser, self._meaning, self._count = text, _Parser(text), _Meaning(""), 0

    def document(self) -> yaml.Node | None:
        self._parser.get_event()  # the stream begins
        self._refuse_directive(FIRST_DIRECTIVE.match(self._text))
        if isinstance(self._parser.get_event(), yaml.StreamEndEvent):
            return None
        root = self._node(self._parser.get_event(), 0)
        end = self._parser.get_event().end_mark
        self._refuse_directive(LATER_DIRECTIVE.search(self._text, max(end.index - 2, 0)))
        after = self._parser.get_event()
        if not isinstance(after, yaml.StreamEndEvent):
            raise _refused("a second document begins", after)
        return root

    def _refuse_directive(self, match: re.Match[str] | None) -> None:
        """Before the parser gets to it."""
        if match is not None:
            line = len(re.findall(BREAK, self._text[: match.end()]))
            mark = yaml.Mark("", match.end() - 1, line, 0, None, 0)
            raise yaml.composer.ComposerError(None, None, "directives (%…) are not allowed", mark)

    def _node(self, event: Any, depth: int) -> yaml.Node:
        self._count += 1
        marks: tuple[Any, Any] = (event.start_mark, event.end_mark)
        if isinstance(event, yaml.AliasEvent):
            raise _refused("aliases are not allowed", event)
        if self._count > MOST:
            raise _refused(f"more than {MOST:,} keys and values", event)
        if depth > DEEPEST:
            raise _refused(f"nested deeper than {DEEPEST} levels", event)
        if isinstance(event, yaml.ScalarEvent):
            tag = self._tag(yaml.ScalarNode, event, event.value)
            return yaml.ScalarNode(tag, event.value, *marks, event.style)
        if isinstance(event, yaml.SequenceStartEvent):
            tag = self._tag(yaml.SequenceNode, event, None)
            return yaml.SequenceNode(tag, self._list(depth), *marks)
        tag = self._tag(yaml.MappingNode, event, None)
        return yaml.MappingNode(tag, self._pairs(depth), *marks)

    def _list(self, depth: int) -> list[yaml.Node]:
        nodes = []
        while not isinstance(event := self._parser.get_event(), yaml.SequenceEndEvent):
            nodes.append(self._node(event, depth + 1))
        return nodes

    def _pairs(self, depth: int) -> list[tuple[yaml.Node, yaml.Node]]:
        pairs, seen = list[tuple[yaml.Node, yaml.Node]](), set[tuple[str, str]]()
        while not isinstance(event := self._parser.get_event(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:  # the second would silently take the place of the first
                    raise _refused(f"{key.value!r} is given twice", event)
                seen.add((key.tag, key.value))
            pairs.append((key, self._node(self._parser.get_event(), depth + 1)))
        return pairs

    def _tag(self, kind: type[yaml.Node], event: Any, value: str | None) -> str:
        """As its value reads."""
        if event.tag is not None:
            raise _refused("tags (!…) are not allowed: a text is quoted, a number is not", event)
        return str(self._meaning.resolve(kind, value, event.implicit))  # type: ignore[no-untyped-call]


def _refused(rule: str, event: Any) -> yaml.YAMLError:
    return yaml.composer.ComposerError(None, None, rule, event.start_mark)
