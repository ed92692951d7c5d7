"""What tests of engines need: a suite that says what a program may rely on, and plain CPython to compare with.

`codeact.testing.conformance` is the way in. `codeact.testing.models` is for hosts: models that play a script, to test
agents with. Nothing here is used by a sandbox at work.
"""
