"""A document as the map that samples store."""

from typing import Any

from afrieval.tasks.documents import Document


class Row(dict[str, Any]):
    """A document as a map, which the harness hashes and logs, with the document as an attribute."""

    def __init__(self, document: Document):
        own: dict[str, Any] = {"choices": list(document.choices)}
        own |= {"roles": list(document.roles)} if document.roles else {"gold": document.gold_cell}
        own |= {"worked": document.worked}
        own |= {"prompt": document.prompt} if document.prompt else {}
        super().__init__({"id": document.id, **document.fields, **own})
        self.document = document
