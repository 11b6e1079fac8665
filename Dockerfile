# One image for every role: Ray head, Ray worker, service. docker-compose.yml says which command each one runs.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PARETOSCOPE_HOME=/var/lib/paretoscope \
    RAY_USAGE_STATS_ENABLED=0

RUN pip install --no-cache-dir uv

# First the packages, which change rarely. The lock is the tested one, so the test tools come along: they are small
# beside torch, and a second lock could drift from the first.
COPY requirements.lock /app/
RUN uv pip install --system --no-cache --compile-bytecode --require-hashes -r /app/requirements.lock

# Built with the lock's setuptools, so that nothing unpinned is fetched.
COPY . /app
RUN uv pip install --system --no-cache --compile-bytecode --no-deps --no-build-isolation /app

# A new volume takes over the owner of the folder it is mounted on.
RUN useradd --create-home --uid 1000 paretoscope \
    && install --directory --owner=paretoscope --group=paretoscope --mode=700 /var/lib/paretoscope

USER paretoscope
ENV HOME=/home/paretoscope
WORKDIR /home/paretoscope

CMD ["python", "-m", "service"]
