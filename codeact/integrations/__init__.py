"""codeact inside other frameworks: a small module for each, which needs the extra of its name.

Nothing of a framework is imported before its module is. All of them run programs by an `Interpreter`, so that the whole
contract holds inside any loop: results, receipts, proposals, limits, audit and journal. Where one agent serves many
conversations, `Conversations` has an interpreter for each.
"""

from codeact.integrations.conversations import Conversations
from codeact.integrations.interpreter import RUN_PYTHON, Interpreter, MakeInterpreter
from codeact.integrations.selection import ForeignTools

__all__ = ["RUN_PYTHON", "Conversations", "ForeignTools", "Interpreter", "MakeInterpreter"]
