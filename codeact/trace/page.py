"""A trace as one HTML page, for whoever looks into what an agent did.

All that a model or a tool wrote is text in it and nothing else; see `codeact.pages`. Bars are drawings, not styles, so
that the page needs no styles beside its own. A run of 10,000 calls makes a page of under 3 MB in about a second: of
calls, programs and output a page shows so much (see `codeact.trace.cuts`) and says how much it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codeact.pages import Html, element, markup, page
from codeact.trace.cuts import Text
from codeact.trace.page_style import STYLE
from codeact.trace.tree import CallNode, Failure, Line, ProposalNode, RunNode, Spoken, Tone, Trace, Tried
from codeact.trace.wording import day_of, ended_in, many, span_of

OPEN = 50
"""Calls, lines of output or steps that are shown at once; more of them must be opened."""


def page_of(trace: Trace) -> str:
    """One HTML file that needs no other."""
    return page(
        f"{trace.title} · trace",
        element("header", *_head(trace)),
        element("main", *_refusals(trace), *_contents(trace), *_steps(trace)),
        element(
            "footer", element("small", "A trace made by codeact. Times of calls count from the beginning of their run.")
        ),
        style=STYLE,
    )


def _head(trace: Trace) -> Iterator[Html]:
    yield element("h1", trace.title)
    runs = trace.runs
    facts = [_mark(trace.ended, trace.tone)]
    if runs:
        facts.append(element("span", many(len(runs) + trace.runs_left_out, "program")))
        facts.append(element("span", many(sum(run.calls_total for run in runs), "call")))
        proposed = sum(len(run.proposals) + run.proposals_left_out for run in runs)
        if proposed:
            facts.append(element("span", many(proposed, "proposal")))
        facts.append(element("time", day_of(runs[0].began)))
    yield element("p", *facts, class_="facts")
    for name, said in (("Asked", trace.asked), ("Answered", trace.answer)):
        if said is not None:
            told = element("p", *_parts(said.text), class_="prose")
            yield element("section", element("h2", name), told, _when_said(said), id=name.lower(), class_="said")


def _refusals(trace: Trace) -> Iterator[Html]:
    found = list(trace.refused())
    if not found:
        return
    rows = [element("li", *_refusal(run, what)) for run, what in found[:OPEN]]
    if len(found) > OPEN:
        rows.append(element("li", f"and {len(found) - OPEN:,} more", class_="faint"))
    title = element("h2", "Tried, and did not come to pass", id="refused")
    yield element("section", title, element("ul", *rows), class_="alarm", aria_labelledby="refused")


def _refusal(run: RunNode, what: Tried) -> Iterator[str]:
    match what:
        case Failure():
            yield _link(_run_id(run), f"Program {run.number}")
            yield markup(" ", element("b", what.kind), f": {what.message.first}")
        case Line():
            yield _link(_run_id(run), f"Program {run.number}, line {what.number}")
            yield markup(" names what was ", element("b", "not granted"), ": ", _code(", ".join(what.not_granted)))
        case CallNode():
            yield _link(_call_id(run, what), f"Program {run.number}, call {what.seq}")
            told = what.answer.first if what.answer else ""
            yield markup(" ", element("b", "refused"), ": ", _code(what.brief), element("small", f" {told}"))
        case ProposalNode():
            yield _link(_proposal_id(run, what), f"Program {run.number}, proposal {what.seq}")
            yield markup(" ", element("b", what.ended), ": ", _code(what.brief))


def _contents(trace: Trace) -> Iterator[Html]:
    if len(trace.runs) + len(trace.steps) <= 2:  # noqa: PLR2004 - a run alone needs none
        return
    begin = min(_when(step) for step in trace.steps)
    span = max(_when(step) + (step.wall or 0.0 if isinstance(step, RunNode) else 0.0) for step in trace.steps) - begin
    rows = []
    for number, step in enumerate(trace.steps):
        if isinstance(step, RunNode):
            why = f" {step.failure.message.first}" if step.failure else ""
            mark = _mark(step.ended, step.tone)
            told = markup(_link(_run_id(step), f"Program {step.number}"), " ", mark, element("small", why))
            # What has no end is drawn up to the next run: whoever goes on with a task has found it dead.
            took = "" if step.wall is None else span_of(step.wall)
            following = [run.began for run in trace.runs if run.began > step.began] if step.wall is None else []
            bar = _bar(step.began - begin, min(following) - step.began if following else step.wall, span, step.tone)
        elif step.speaker == "observation":
            continue
        else:
            told = _step_link(trace, step, f"s{number}")
            bar = _bar(step.time - begin, 0.0, span, "faint")
            took = ""
        rows.append(element("li", element("p", element("span", told), element("span", took, class_="end")), bar))
    yield _folded(element("h2", "Steps"), element("ol", *rows, class_="steps"), open_=len(rows) <= OPEN, class_="plain")


def _step_link(trace: Trace, step: Spoken, name: str) -> Html:
    if step is trace.asked:
        return _link("asked", "Asked")
    return _link("answered", "Answered") if step is trace.answer else _link(name, _title(step))


def _steps(trace: Trace) -> Iterator[Html]:
    if trace.runs_left_out:
        yield element(
            "p", f"{many(trace.runs_left_out, 'run')} between the first and the last ones left out.", class_="cut"
        )
    if trace.said_left_out:
        yield element(
            "p", f"{trace.said_left_out:,} of what was said between the first and the last left out.", class_="cut"
        )
    for number, step in enumerate(trace.steps):
        if isinstance(step, RunNode):
            yield _run(step)
        elif step is not trace.asked and step is not trace.answer:  # which stand at the top
            yield _said(step, f"s{number}")


def _said(step: Spoken, name: str) -> Html:
    notes = _when_said(step)
    title = element("h2", _title(step))
    if step.speaker in {"observation", "other"}:
        return element(
            "article", _folded(title, _box(step.text, _title(step), wraps=True), notes), id=name, class_="said"
        )
    said = [element("p", *_parts(step.text), class_="prose")] if step.text else []
    asked = [
        markup(element("p", f"It asked for {program.why}:", class_="wary"), _box(program.text, "A program"))
        for program in step.not_run
    ]
    return element(
        "article", title, *said, *asked, notes, id=name, class_="said model" if step.speaker == "model" else "said"
    )


def _when_said(step: Spoken) -> Html:
    asks = [f"asked for {many(step.asks, 'program')}"] if step.asks else []
    return element("small", " · ".join((day_of(step.time), *asks, *step.notes)))


def _title(step: Spoken) -> str:
    match step.speaker:
        case "host":
            return "The host said"
        case "model":
            return "The model replied"
        case "observation":
            return "What the model was told of it"
        case "end":
            return "The end"
        case _:
            return step.kind[:100]


def _run(run: RunNode) -> Html:
    name = _run_id(run)
    head = element("h2", f"Program {run.number} ", _mark(run.ended, run.tone))
    facts = [day_of(run.began)]
    if run.wall is not None:
        facts.append(span_of(run.wall))
    facts.append("its calls are not on record" if run.is_unrecorded else many(run.calls_total, "call"))
    if run.same_as is not None:
        facts.append(f"the same text as program {run.same_as}")
    parts = [head, element("p", element("small", " · ".join(facts))), *_failure(run.failure)]
    parts += [_heading("Program"), _program(run)]
    if run.proposals:
        parts += [_heading("Proposals"), *_proposals(run)]
    if run.calls:
        parts += _calls(run)
    if run.output:
        lines = run.output.whole.count("\n")
        output = _box(run.output, "Output")
        parts.append(_folded(_heading("Output"), output, open_=lines <= OPEN))
    if run.value is not None:
        parts += [_heading("Value"), _box(run.value, "Value", wraps=True)]
    if run.notes:
        parts += [_heading("Notes"), element("ul", *(element("li", *_parts(note)) for note in run.notes))]
    parts.append(_folded(_heading("The run and its limits"), _pairs((*run.about, *run.costs))))
    return element("article", *parts, id=name, class_=f"run {run.tone}-edge")


def _failure(failure: Failure | None) -> Iterator[Html]:
    if failure is None:
        return
    where = "" if failure.line is None else f" in line {failure.line}"
    told = [element("p", element("b", f"{failure.kind}{where}: "), *_parts(failure.message), class_="prose")]
    if failure.where:
        told.append(_box(failure.where, "Where it failed"))
    told += [element("p", *_parts(text), class_="prose faint") for text in failure.rest]
    yield element("div", *told, class_="alarm")


def _program(run: RunNode) -> Html:
    failed = run.failure.line if run.failure else None
    lines = [_line(run, line, failed=line.number == failed) for line in run.program]
    more = [element("p", f"… {many(run.lines_left_out, 'more line')} …", class_="cut")] if run.lines_left_out else []
    return element("div", element("ol", *lines), *more, class_="code", **_scrolls(f"Program {run.number}"))


def _line(run: RunNode, line: Line, *, failed: bool) -> Html:
    told = [element("code", *_parts(line.text))]
    if failed:
        told.append(element("p", "↑ it failed here", class_="at bad"))
    if line.not_granted:
        told.append(element("p", f"↑ not granted: {', '.join(line.not_granted)}", class_="at bad"))
    for call in line.calls:
        took = "" if call.duration is None else f" {span_of(call.duration)}"
        state = _mark(call.state or "not ended", call.tone)
        told.append(element("p", "↳ ", _link(_call_id(run, call), call.brief), " ", state, took, class_="at"))
    if line.more:
        more = f"↳ and {many(line.more, 'more call')}" if line.calls else f"↳ {many(line.more, 'call')}, not shown"
        told.append(element("p", more, class_="at"))
    return element("li", *told, class_="failed" if failed else None)


def _calls(run: RunNode) -> Iterator[Html]:
    title = markup(_heading("Calls"), element("small", f" {ended_in(run.calls_made)}"))
    rows = [_call(run, call) for call in run.calls]
    if run.calls_left_out:
        told = f"{many(run.calls_left_out, 'more call')} left out; those that did not go well are shown first."
        rows.append(element("p", told, class_="cut"))
    yield _folded(title, *rows, open_=len(rows) <= OPEN)


def _call(run: RunNode, call: CallNode) -> Html:
    where = "" if call.line is None else f"line {call.line} · "
    tone = call.tone
    head = element(
        "summary",
        element("span", element("small", f"{call.seq} "), _code(call.brief), class_="what"),
        _bar(call.began, call.duration, run.span, tone),
        element("span", where, _mark(call.state or "not ended", tone), f" · {span_of(call.duration)}", class_="end"),
    )
    told: list[Html] = [element("p", element("small", f"{call.name} · began after {span_of(call.began)}"))]
    if call.arguments is None:
        told.append(element("p", "Its arguments are not on record."))
    else:
        told += [element("h4", "Arguments"), _box(call.arguments, "Arguments", wraps=True)]
    if call.answer is None:
        told.append(element("p", "The program was told nothing."))
    else:
        title = "Answer" if call.answered else "Refused" if call.state == "refused" else "Failed"
        told += [element("h4", title), _box(call.answer, title, wraps=True)]
    return element("details", head, *told, id=_call_id(run, call), class_="call")


def _proposals(run: RunNode) -> Iterator[Html]:
    for one in run.proposals:
        where = "" if one.line is None else f" · line {one.line}"
        head = element(
            "summary",
            element("span", element("small", f"{one.seq} "), _code(one.brief), class_="what"),
            element("span", _mark(one.ended, one.tone), where, class_="end"),
        )
        told = [element("p", text) for text in _fate(one)]
        came = [] if one.fate is None or one.fate.came is None else [("what came of it", one.fate.came)]
        told.append(_pairs((name, element("code", *_parts(text))) for name, text in (*one.arguments, *came)))
        yield element("details", head, *told, id=_proposal_id(run, one), class_="call proposal", open=True)
    if run.proposals_left_out:
        yield element("p", f"{many(run.proposals_left_out, 'more proposal')} left out.", class_="cut")


def _fate(one: ProposalNode) -> Iterator[str]:
    if one.dropped:
        yield "Dropped: its program failed, and nothing takes it further."
    fate = one.fate
    if fate is None:
        if not one.dropped:
            yield "What became of it is not known: no outbox that was asked has it."
        return
    if fate.steps:
        yield from (step.whole for step in fate.steps)
    elif fate.decided is not None:
        yield f"Decided by {fate.by or 'nobody named'}, {day_of(fate.decided)}{f': {fate.reason}' if fate.reason else ''}"
    elif fate.reason:
        yield fate.reason
    if fate.ended is not None and not fate.steps:
        yield f"{fate.state.capitalize()} {day_of(fate.ended)}"
    yield f"Entry {fate.entry}"


def _pairs(pairs: Iterable[tuple[str, str]]) -> Html:
    return element("dl", *(element("div", element("dt", name), element("dd", text)) for name, text in pairs))


def _folded(title: Html, *children: Html, open_: bool = False, class_: str | None = None) -> Html:
    return element("details", element("summary", title), *children, open=open_, class_=class_)


def _heading(text: str) -> Html:
    return element("h3", text)


def _box(text: Text, name: str, *, wraps: bool = False) -> Html:
    return element("pre", *_parts(text), class_="wraps" if wraps else None, **_scrolls(name))


def _scrolls(name: str) -> dict[str, str]:
    """What makes a box that scrolls one that can be scrolled with keys, and named by what reads it out."""
    return {"tabindex": "0", "role": "group", "aria_label": name}


def _mark(text: str, tone: Tone) -> Html:
    return element("span", text, class_=f"mark {tone}")


def _link(name: str, text: str) -> Html:
    return element("a", text, href=f"#{name}")


def _code(text: str) -> Html:
    return element("code", text)


def _parts(text: Text) -> list[str]:
    if not text.left_out:
        return [text.head]
    return [text.head, element("span", f" {text.gap} ", class_="cut"), text.tail]


def _bar(began: float, took: float | None, span: float, tone: Tone) -> Html:
    """A drawing of when something began and how long it took. What it shows is told beside it in words."""
    left = min(max(began / span, 0.0), 0.99) * 100 if span > 0 else 0.0
    width = 100 - left if took is None else min(took / span * 100, 100 - left) if span > 0 else 100.0
    rect = element(
        "rect", x=f"{left:.2f}%", y="25%", width=f"{max(width, 0.6):.2f}%", height="50%", rx="2", class_=f"fill {tone}"
    )
    return element("svg", rect, class_="bar", aria_hidden="true", focusable="false")


def _when(step: Spoken | RunNode) -> float:
    return step.time if isinstance(step, Spoken) else step.began


def _run_id(run: RunNode) -> str:
    return f"r{run.number}"


def _call_id(run: RunNode, call: CallNode) -> str:
    return f"r{run.number}c{call.seq}"


def _proposal_id(run: RunNode, one: ProposalNode) -> str:
    return f"r{run.number}p{one.seq}"
