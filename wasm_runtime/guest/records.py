"""What tools give: records and members of Enums, as plain values that a program can read with ease."""

from __future__ import annotations


class Record(dict[str, object]):
    """A record that came from a tool: `charge.amount` and `charge["amount"]` are the same."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        try:
            return dict.__getitem__(self, name)
        except KeyError:
            fields = ", ".join(map(str, self))
            msg = f"record has no field {name!r}; its fields are: {fields}"
            raise AttributeError(msg, name=name) from None

    def __missing__(self, name: object) -> object:
        msg = f"record has no field {name!r}; its fields are: {', '.join(map(str, self))}"
        raise KeyError(msg)

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        self.pop(name)


class ShadowingRecord(Record):
    """A record with fields that are named like methods of dict: the fields win."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> object:
        if dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        return super().__getattribute__(name)


_DICT_NAMES = frozenset(dir(dict))


def record(fields: dict[str, object]) -> Record:
    """A record with these fields, whatever they are called."""
    if _DICT_NAMES.isdisjoint(fields):
        return Record(fields)
    return ShadowingRecord(fields)


class Member:
    """A member of an Enum that came from a tool. It equals its value, so `charge.status == "paid"` holds."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: object) -> None:
        self.name = name
        self.value = value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Member):
            return self.name == other.name and self.value == other.value
        return self.value == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.value!r}>"
