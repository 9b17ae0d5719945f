# The service in a container: built in one stage, run by nobody in particular in another.
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/confide \
 && /opt/confide/bin/pip install --no-cache-dir --disable-pip-version-check '.[service,postgresql]'

FROM python:3.12-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/confide confide
COPY --from=build /opt/confide /opt/confide
ENV PATH=/opt/confide/bin:$PATH \
    CONFIDE_HOME=/var/lib/confide/home \
    NUMBA_CACHE_DIR=/var/lib/confide/kernels \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /var/lib/confide
VOLUME /var/lib/confide
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://localhost:8000/health/ready', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["confide"]
CMD ["serve", "--host", "0.0.0.0"]
