"""The spans of a run, to whatever provider there is."""

from codeact import Audit, Sandbox
from codeact.audit.telemetry import OpenTelemetry

result = Sandbox(audit=Audit([OpenTelemetry()])).run("1 + 1")
assert result.value == 2, result.observation()
