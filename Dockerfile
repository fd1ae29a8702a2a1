# One node of the service. What is built needs no package beside it.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json LICENSE ./
COPY build ./build
COPY bin ./bin
COPY src ./src
COPY schemas ./schemas
COPY personas ./personas
COPY models ./models
COPY web ./web
RUN npm run build

FROM node:24-slim
WORKDIR /app
COPY package.json LICENSE ./
COPY bin ./bin
COPY schemas ./schemas
COPY personas ./personas
COPY models ./models
COPY --from=build /app/dist ./dist
# where a single node keeps its SQLite file; several nodes use PostgreSQL and need no volume
RUN install -d -o node -g node -m 700 /data
ENV NODE_ENV=production XDG_DATA_HOME=/data
VOLUME /data
USER node
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/reprise.js"]
# any address but loopback needs a token: mount it as this file
CMD ["serve", "--host", "0.0.0.0", "--port", "8787", "--token-file", "/run/secrets/reprise_token", "--log"]
