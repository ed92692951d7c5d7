"""What tests of engines need: a suite that says what a program may rely on, and plain CPython to compare with.

`codeact.testing.conformance` is the way in. Nothing here is used by a sandbox at work.
"""
