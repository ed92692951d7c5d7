"""A sink that makes OpenTelemetry spans of events, by the conventions for generative AI.

A run is the span `execute_tool run_python`; its calls are its children. The conventions are OpenTelemetry's
"Semantic conventions for GenAI agent and framework spans" (attributes `gen_ai.*`).
"""

from __future__ import annotations

import json
from typing import Any

from codeact.audit import Event
from codeact.extras import extra
from codeact.renderings import printable

with extra("otel", "codeact.audit.telemetry"):
    from opentelemetry import trace
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

__all__ = ["OpenTelemetry"]

_NANO = 1_000_000_000
_CONTENT = {
    "arguments": "gen_ai.tool.call.arguments",
    "text": "gen_ai.tool.call.arguments",
    "result": "gen_ai.tool.call.result",
    "value": "gen_ai.tool.call.result",
}
"""What the conventions call what was said, of a call and of a run: one text, of JSON."""


class OpenTelemetry:
    """Makes a span of every run, with a child for each of its calls; a request is an event of it.

    Arguments and results become attributes only where the audit keeps content.
    """

    def __init__(self, tracer: Tracer | None = None) -> None:
        """Make the sink.

        Args:
            tracer: whose spans they are; the global provider's tracer `codeact` by default.
        """
        if tracer is not None and not isinstance(tracer, Tracer):
            msg = f"tracer={tracer!r:.200}: expected an OpenTelemetry Tracer, such as provider.get_tracer('codeact')"
            raise TypeError(msg)
        self._tracer = tracer or trace.get_tracer("codeact")
        self._runs: dict[str, Span] = {}

    def write(self, event: Event) -> None:
        """Take an event."""
        match event.name:
            case "sandbox_spawn":
                span = self._start("run_python", event, event.time, None)
                span.set_attributes(_attributes(event))
                if event.run is not None:
                    self._runs[event.run] = span
            case "sandbox_exit":
                self._finish(self._runs.pop(event.run or "", None), event)
            case "tool_call_executed" | "tool_call_denied":
                seconds = _milliseconds(event) / 1000
                span = self._start(
                    str(event.data["tool"]), event, event.time - seconds, self._runs.get(event.run or "")
                )
                span.set_attribute("gen_ai.tool.call.id", f"{event.run}:{event.data['call']}")
                self._finish(span, event)
            case "egress":
                running = self._runs.get(event.run or "")
                if running is None:  # it was given up with its run, or made outside of any
                    self._finish(self._start("egress", event, event.time - _milliseconds(event) / 1000, None), event)
                else:
                    running.add_event("egress", _attributes(event), int(event.time * _NANO))
            case _:
                pass  # a session is no operation with a duration of its own

    def _start(self, tool: str, event: Event, begun: float, parent: Span | None) -> Span:
        tool = printable(tool)  # an exporter refuses lone surrogates, and all that it would send with them
        context = None if parent is None else trace.set_span_in_context(parent)
        span = self._tracer.start_span(
            f"execute_tool {tool}", context, SpanKind.INTERNAL, start_time=int(begun * _NANO)
        )
        span.set_attribute("gen_ai.operation.name", "execute_tool")
        span.set_attribute("gen_ai.tool.name", tool)
        span.set_attribute("gen_ai.tool.type", "function")
        for name, value in (("run", event.run), ("session", event.session), ("tenant", event.tenant)):
            if value is not None:
                span.set_attribute(f"codeact.{name}", value)
        return span

    def _finish(self, span: Span | None, event: Event) -> None:
        if span is None:
            return
        for name, value in _attributes(event).items():
            span.set_attribute(name, value)
        failed = event.data.get("error")
        if failed is not None:
            span.set_attribute("error.type", str(failed))
            span.set_status(Status(StatusCode.ERROR))
        span.end(int(event.time * _NANO))


def _milliseconds(event: Event) -> float:
    duration = event.data.get("duration_ms", 0.0)
    return duration if isinstance(duration, float) else 0.0


def _attributes(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in event.data.items():
        if name in _CONTENT:
            found[_CONTENT[name]] = json.dumps(value)
        elif isinstance(value, str):
            found[f"codeact.{name}"] = printable(value)
        elif isinstance(value, (bool, int, float)):
            found[f"codeact.{name}"] = value
    return found
