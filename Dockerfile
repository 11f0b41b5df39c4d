# An image with afrieval, for CPUs and GPUs; docs/containers.md shows how to build and run it.
FROM python:3.13-slim-trixie AS wheel
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.13-slim-trixie
# By default, torch brings its CUDA libraries, some gigabytes. Another index may have smaller builds.
ARG TORCH_INDEX=""
RUN --mount=type=bind,source=constraints.txt,target=/constraints.txt \
    --mount=type=bind,from=wheel,source=/wheel,target=/wheel \
    pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} \
        --constraint /constraints.txt /wheel/*.whl

# Any user may run it, such as the owner of a mounted folder, and write to the cache.
RUN install --directory --mode=1777 /cache /work
ENV HOME=/cache HF_HOME=/cache/huggingface XDG_CACHE_HOME=/cache USER=afrieval \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000:1000
WORKDIR /work
VOLUME /cache
ENTRYPOINT ["afrieval"]
CMD ["--help"]
