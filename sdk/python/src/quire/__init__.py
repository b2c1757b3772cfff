"""Search documents in quire, read them page by page and ask them questions."""

from ._async import AsyncQuire
from ._client import Quire
from ._errors import QuireError
from ._objects import (Answer, Box, Citation, Document, File, Hit, Page, Question, Receipt, SearchResult, Usage)

__all__ = ["Answer", "AsyncQuire", "Box", "Citation", "Document", "File", "Hit", "Page", "Question", "Quire", "QuireError",
           "Receipt", "SearchResult", "Usage"]
__version__ = "0.1.0"
