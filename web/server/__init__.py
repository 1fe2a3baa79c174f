"""Pages over HTTP. The only room that imports Starlette and uvicorn."""
