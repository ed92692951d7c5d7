"""The trace: what a journal and an outbox have on record of a task or a run, for people to look at.

`codeact trace` is the way in, and for hosts `page_of(trace_of(journal, "T-100"))`. What is shown is in `tree`, made by
`telling`, and told as text by `lines` and as a page by `page`.
"""

from codeact.pages import write_page
from codeact.trace.lines import Row, rows_of
from codeact.trace.page import page_of
from codeact.trace.telling import trace_of
from codeact.trace.tree import Trace

__all__ = ["Row", "Trace", "page_of", "rows_of", "trace_of", "write_page"]
