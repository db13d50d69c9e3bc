# The README's steps, in an image: python -m venv is not needed, as nothing else lives here.
FROM node:22-slim AS scripts
WORKDIR /site
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM python:3.11-slim
WORKDIR /site
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
RUN pip install --no-cache-dir -c constraints.txt -e ".[metrics]"
COPY --from=scripts /site/node_modules node_modules
COPY static static
COPY templates templates
COPY lessons lessons
# a number that is the same in every build, for whoever mounts a folder of lessons
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin tilewise
USER 10001
ENV TILEWISE_HOST=0.0.0.0 TILEWISE_PORT=8000 TILEWISE_LOG_FORMAT=json PYTHONDONTWRITEBYTECODE=1
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"TILEWISE_PORT\"]}/healthz', timeout=2)"]
CMD ["python", "-m", "app"]
