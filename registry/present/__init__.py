"""One answer as a JSON document, as text for a terminal and as a fragment of HTML."""
