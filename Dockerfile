# The bot in a container: one stage builds with uv, the other runs as an unprivileged user.
FROM python:3.13-slim AS build
WORKDIR /app
ENV UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1
COPY pyproject.toml requirements.txt requirements-run.txt requirements-uv.txt README.md LICENSE ./
COPY engine engine
COPY bot bot
COPY adapters adapters
# Files must match the pinned hashes. requirements.txt also pins what builds the package.
RUN pip install --quiet --no-cache-dir --require-hashes --requirement requirements-uv.txt \
    && uv venv .venv \
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
# The monitoring port is for other containers and the health check, so `docker run --publish-all` must not open it.
EXPOSE 8765
# Asks /healthz. A frozen bot does not answer in time, so it is unhealthy.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "-m", "bot.cli.health"]
# After SIGTERM the bot finishes its current work and ends within five seconds.
STOPSIGNAL SIGTERM
ENTRYPOINT ["buongioco"]
CMD ["run"]
