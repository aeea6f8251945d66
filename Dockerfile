# The bot in a container: built with uv in one stage, run by a user without rights in the other.
FROM python:3.13-slim AS build
COPY --from=ghcr.io/astral-sh/uv:0.9 /uv /bin/uv
WORKDIR /app
ENV UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1
COPY pyproject.toml requirements.txt requirements-run.txt README.md LICENSE ./
COPY engine engine
COPY bot bot
COPY adapters adapters
# What is not the file that a pin's hash says is not installed; requirements.txt pins what builds the package.
RUN uv venv .venv \
    && uv pip install --python .venv --require-hashes --requirement requirements-run.txt \
    && uv pip install --python .venv --no-deps --build-constraint requirements.txt .

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 buongioco && install -d -o buongioco -g buongioco /data
COPY --from=build /app/.venv /app/.venv
ENV PATH=/app/.venv/bin:$PATH BUONGIOCO_DATA=/data BUONGIOCO_PLAYGROUND_HOST=0.0.0.0 BUONGIOCO_PLAYGROUND_PORT=8765 \
    BUONGIOCO_MONITORING_HOST=0.0.0.0 BUONGIOCO_MONITORING_PORT=8766 NUMBA_CACHE_DIR=/data/compiled
USER buongioco
WORKDIR /home/buongioco
VOLUME /data
# The monitoring port is for other containers and the check below, so `docker run --publish-all` must not open it.
EXPOSE 8765
# Asks /healthz: a frozen bot does not answer in time and is unhealthy.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "-m", "bot.cli.health"]
# SIGTERM finishes what is in hand and ends within five seconds.
STOPSIGNAL SIGTERM
ENTRYPOINT ["buongioco"]
CMD ["run"]
