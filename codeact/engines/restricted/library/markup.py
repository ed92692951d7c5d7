"""`html.parser`, `xml.etree.ElementTree` and `xml.sax.saxutils`.

The tree is the standard one's Python twin: the one in C runs for as long as the tree is large, and trusts what a
program puts into it. Entities that stand for others are bounded by expat itself, since 2.4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from codeact.engines.restricted.library.copies import as_module, copied
from codeact.engines.restricted.library.parts import Parts, pick


def make_html_parser(parts: Parts) -> dict[str, Any]:
    """The names of `html.parser`."""
    base = as_module("_markupbase", copied(parts, "_markupbase"))
    return pick(copied(parts, "html.parser", {"_markupbase": base}), "HTMLParser")


def make_xml_etree_ElementTree(parts: Parts) -> dict[str, Any]:  # noqa: N802 - the module's name
    """The names of `xml.etree.ElementTree`."""
    paths = as_module("xml.etree.ElementPath", copied(parts, "xml.etree.ElementPath"))
    package = as_module("xml.etree", {"ElementPath": paths})
    names = copied(parts, "xml.etree.ElementTree", {"xml.etree": package, "_elementtree": None}, id=lambda _: 0)
    element, parser = names["Element"], names["XMLParser"]
    make = parser.__init__

    def walk(self: Any, tag: Any = None) -> Iterator[Any]:
        """The element and all below it, however deep: the standard one's Python twin goes into itself."""
        wanted = None if tag == "*" else tag
        pending = [self]
        while pending:
            found = pending.pop()
            parts.world.meter.tick()
            if wanted is None or found.tag == wanted:
                yield found
            pending += reversed(found._children)  # noqa: SLF001 - a copy of our own

    def init(self: Any, **named: Any) -> None:
        make(self, **named)
        self.parser = _Feeder(self._parser)

    def init_subclass(cls: Any, /, **_: Any) -> NoReturn:
        msg = f"{cls.__name__}: XMLParser cannot be subclassed here; give it a target of your own"
        raise TypeError(msg)

    element.iter = walk
    element.__repr__ = lambda self: f"<{type(self).__name__} {parts.text.repr(self.tag)}>"
    element.keys, element.items = lambda self: list(self.attrib), lambda self: list(self.attrib.items())
    parser.__init__, parser.__init_subclass__ = init, classmethod(init_subclass)
    for kind in (element, names["ElementTree"], names["QName"]):
        parts.world.setters[kind] = lambda target: target
    return pick(
        names,
        "C14NWriterTarget Comment Element ElementTree PI ParseError ProcessingInstruction QName SubElement TreeBuilder "
        "XML XMLID XMLParser XMLPullParser canonicalize dump fromstring fromstringlist indent iselement iterparse "
        "parse register_namespace tostring tostringlist",
    )


class _Feeder:
    """The parser in C, as much as is needed of it: it must not be fed while it is being fed."""

    __slots__ = ("_parser", "_within")

    def __init__(self, parser: Any) -> None:
        self._parser = parser
        self._within = False

    def Parse(self, data: Any, final: Any = False) -> Any:  # noqa: N802 - the real one's name
        """Parse some more."""
        if self._within:
            msg = "the parser is at work already"
            raise RuntimeError(msg)
        self._within = True
        try:
            return self._parser.Parse(data, final)
        finally:
            self._within = False

    def __getattr__(self, name: str) -> Any:
        if name in {"ErrorLineNumber", "ErrorColumnNumber", "GetReparseDeferralEnabled", "SetReparseDeferralEnabled"}:
            return getattr(self._parser, name)
        raise AttributeError(name)


def make_xml_sax_saxutils(parts: Parts) -> dict[str, Any]:
    """The names of `xml.sax.saxutils` that are about text."""
    replace = parts.text.call

    def replaced(data: str, entities: Any) -> str:
        for old, new in dict(entities).items():
            data = replace("replace", data, old, new)
        return data

    def escape(data: str, entities: Any = ()) -> str:
        return replaced(replaced(data, (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"))), entities)

    def unescape(data: str, entities: Any = ()) -> str:
        return replaced(replaced(replaced(data, (("&lt;", "<"), ("&gt;", ">"))), entities), (("&amp;", "&"),))

    def quoteattr(data: str, entities: Any = ()) -> str:
        data = escape(data, {**dict(entities), "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
        if '"' not in data:
            return f'"{data}"'
        return f"'{data}'" if "'" not in data else '"{}"'.format(data.replace('"', "&quot;"))

    return {"escape": escape, "quoteattr": quoteattr, "unescape": unescape}
