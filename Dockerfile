# The service and its worker in one image. EXTRAS adds optional parts, such as "postgres,gpu" for a worker with PyTorch.

FROM python:3.11-slim AS build
ARG EXTRAS=postgres
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
COPY auctions auctions
COPY optmodel optmodel
COPY solvers solvers
RUN python -m venv /opt/foresolve \
 && /opt/foresolve/bin/pip install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]"

FROM python:3.11-slim
RUN groupadd --gid 10001 foresolve \
 && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin foresolve \
 && install --directory --owner 10001 --group 10001 --mode 0700 /data /files
COPY --from=build /opt/foresolve /opt/foresolve

# Everything that is written lies in /data, /files and /tmp, so that the root file system may be read-only.
ENV PATH=/opt/foresolve/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1 \
    HOME=/data \
    NUMBA_CACHE_DIR=/data/cache \
    FORESOLVE_DATA_DIR=/data \
    FORESOLVE_LOG_JSON=true

USER 10001:10001
VOLUME ["/data", "/files"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=120s --retries=4 CMD ["foresolve", "health", "--live"]
ENTRYPOINT ["foresolve"]
CMD ["serve", "--host", "0.0.0.0"]
