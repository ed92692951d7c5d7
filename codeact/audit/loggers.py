"""A sink that hands events to `logging`."""

from __future__ import annotations

import json
import logging

from codeact.audit import Event

__all__ = ["Logging"]


class Logging:
    """Logs each event as one line of JSON, with the event itself as the record's attribute `event`.

    What `logging` is set to drop is dropped, and a handler that fails is nobody's error: by its defaults it shows
    warnings only. An audit that must be whole needs another sink.
    """

    def __init__(self, logger: logging.Logger | None = None, level: int = logging.INFO) -> None:
        """Make the sink.

        Args:
            logger: where to; `codeact.audit` by default.
            level: at which level; a denied call or request is logged as a warning at least.
        """
        self._logger = logger or logging.getLogger("codeact.audit")
        self._level = level

    def write(self, event: Event) -> None:
        """Log an event."""
        denied = event.name == "tool_call_denied" or event.data.get("allowed") is False
        level = max(self._level, logging.WARNING) if denied else self._level
        self._logger.log(level, "%s", json.dumps(event.to_dict()), extra={"event": event})
