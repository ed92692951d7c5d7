"""A tape takes what a guest may send, whatever that is."""

from __future__ import annotations

from codeact import Limits
from codeact.engines import Answer, Doors, Refusal, Stop
from codeact.tape import Player, Recorder, Tape

NAME = "n" * 1_000_000


def doors(answer: object = None) -> Doors:
    """Doors that answer everything alike, and refuse what cannot be read."""
    return Doors(
        call=lambda _name, _args, _kwargs, _line=0: Answer(answer),
        submit=lambda _name, _args, _kwargs, _line=0: 1,
        wait=lambda _seconds: ((1, Answer(answer)),),
        cancel=lambda _ticket: None,
        refuse=lambda _name, reason, _line=0: Refusal("TypeError", reason),
        write=lambda _text: None,
        interrupted=lambda: None,
        now=lambda: 5,
        monotonic=lambda: 6,
        seed=b"seed",
    )


def test_names_are_bounded() -> None:
    tape = Tape()
    tapped = Recorder(tape, Limits()).tap(doors())
    tapped.call(NAME, (), {}, 0)
    tapped.submit(NAME, (), {}, 0)
    tapped.refuse(NAME, "no", 0)
    assert max(len(call.name) for call in tape.calls) < 200
    played = Player(tape, Limits()).tap(doors())
    assert played.call(NAME, (), {}, 0) == Answer(None)
    assert played.submit(NAME, (), {}, 0) == 1
    assert played.refuse(NAME, "no", 0) == Refusal("TypeError", "no")
    end = played.call(NAME, (), {}, 0)
    assert isinstance(end, Stop)
    assert len(end.fault.message) < 400


def test_arguments_that_no_text_holds() -> None:
    tape = Tape(room=1000)
    tapped = Recorder(tape, Limits()).tap(doors())
    assert tapped.call("ask", (object(),), {}, 3) == Answer(None)
    assert (tape.calls[0].arguments, tape.calls[0].digest, tape.calls[0].line) == (None, "", 3)


def test_an_answer_that_no_text_holds_is_refused() -> None:
    tape = Tape()
    tapped = Recorder(tape, Limits()).tap(doors({2**400_000}))
    reply = tapped.call("ask", (), {}, 0)
    assert isinstance(reply, Refusal)
    assert "cannot cross into the sandbox" in reply.message
    ((_, waited),) = tapped.wait(None)  # type: ignore[misc]  # it is no Stop
    assert isinstance(waited, Refusal)
    assert Player(tape, Limits()).tap(doors()).call("ask", (), {}, 0) == reply


def test_a_set_has_the_order_that_it_will_have() -> None:
    tape = Tape()
    given = {32, 64, 0, 8, 16}
    given.discard(32)
    live = Recorder(tape, Limits()).tap(doors(given)).call("ask", (), {}, 0)
    again = Player(tape, Limits()).tap(doors()).call("ask", (), {}, 0)
    assert isinstance(live, Answer)
    assert isinstance(again, Answer)
    assert [*live.value] == [*again.value]  # type: ignore[misc]  # both are sets


def test_running_beyond_the_end() -> None:
    tape = Tape()
    tapped = Recorder(tape, Limits()).tap(doors())
    tapped.call("ask", (), {}, 0)
    player = Player(tape, Limits())
    played = player.tap(doors())
    played.call("ask", (), {}, 0)
    assert not player.beyond
    played.call("ask", (), {}, 7)
    assert player.beyond
    assert player.diverged == "at call 2 (line 7) it calls ask where no more calls were recorded"
    other = Player(tape, Limits())
    other.tap(doors()).call("tell", (), {}, 0)
    other.tap(doors()).call("ask", (), {}, 0)
    assert (other.beyond, other.made) == (False, 1)
    assert "it calls tell where a call of ask" in (other.diverged or "")
