"""Whether a conversation is one that every provider takes."""

from __future__ import annotations

from collections.abc import Sequence

from codeact.messages import Message, Observed, Reply, Said


def complaint(messages: Sequence[Message], *, over: bool = True) -> str | None:
    """What is wrong with a conversation; None where it is well formed.

    Each program that is asked for has an id of its own and one observation, in order, right after the reply. Replies and
    what the host says alternate.

    Args:
        messages: the conversation.
        over: whether the task is over; otherwise the model is to reply.
    """
    if not messages or not isinstance(messages[0], Said):
        return "it does not begin with what the host says"
    ids = [asked.id for message in messages if isinstance(message, Reply) for asked in message.programs]
    if len(set(ids)) != len(ids) or not all(ids):
        return f"ids are not unique: {ids}"
    place = 1
    while place < len(messages):
        reply = messages[place]
        if not isinstance(reply, Reply):
            return f"message {place} is no reply, and the host has spoken: {reply}"
        place += 1
        for asked in reply.programs:
            if place == len(messages) or not isinstance(messages[place], Observed) or messages[place].id != asked.id:
                return f"program {asked.id} is not answered in its turn"
            place += 1
        if not reply.programs and place < len(messages):
            if not isinstance(messages[place], Said):
                return f"message {place} answers nothing: {messages[place]}"
            place += 1
    if not over and isinstance(messages[-1], Reply):
        return "the model has replied already"
    return None
