"""The interface for programs, without a server: its operations, their formats, and the documents that they answer with."""
