# Build: the toolchain and a C compiler, nothing else.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --release --locked && cp target/release/groundline /groundline

# Run: no shell user, no root, data on a volume.
FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/groundline --create-home groundline
COPY --from=build /groundline /usr/local/bin/groundline
COPY docker/groundline.toml /etc/groundline/groundline.toml
USER 10001
VOLUME /var/lib/groundline
EXPOSE 4317 4318 4320 5433
ENTRYPOINT ["groundline"]
CMD ["serve", "--config", "/etc/groundline/groundline.toml"]
