# Caveat with everything that PDF needs. Build: docker build --tag caveat .
# Two stages: compilers, pip's cache and the sources stay out of the image.

FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE registry.cfg caveat_command.py ./
COPY registry registry
COPY audit audit
COPY fleet fleet
COPY interchange interchange
COPY monitoring monitoring
COPY web web
COPY caveat caveat
COPY report_templates report_templates
COPY migrations migrations
COPY examples examples
COPY docs/errors.md docs/errors.md
RUN python -m venv /opt/caveat && /opt/caveat/bin/pip install --no-cache-dir ".[postgresql,web,site]"

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/caveat /opt/caveat
ENV PATH="/opt/caveat/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
# A user without rights, in a folder that the caller mounts.
RUN useradd --create-home --uid 1000 caveat && mkdir /data && chown caveat /data
USER caveat
WORKDIR /data
ENTRYPOINT ["caveat"]
CMD ["--help"]
