"""What tests of engines need: a suite that says what a program may rely on, and plain CPython to compare with.

`codeact.testing.conformance` is the way in. For hosts there are `codeact.testing.models`, models that play a script, to
test agents with; `codeact.testing.fakes`, tools with canned answers; and `codeact.testing.plugin`, which makes fixtures of
pytest of them. Nothing here is used by a sandbox at work.
"""
