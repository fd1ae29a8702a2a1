import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { installProgram } from "../build/build.ts";
import { ask, load, postRequest } from "./load.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { makeDatabase, type Service, start, temporaryFolder } from "./services.ts";

const STARTS = 3;
/** Seconds for which a service is left alone before its memory is read. */
const IDLE_SECONDS = 3;
/** Appends come for twice as long: memory is read after each half. */
const HALF_SECONDS = 40;
const CONNECTIONS = 128;
const SESSIONS = 100;

const BARE = `import { fastify } from "fastify";
const app = fastify();
app.get("/livez", async () => ({ status: "ok" }));
console.log("listening on " + (await app.listen({ port: 0, host: "127.0.0.1" })));`;

/** The resident set of the built service: idle, and after as many appends as it takes in 80 s. */
export const bench: Bench = {
  about: "memory of the service: idle, against bare Fastify, and after appends without end",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    const root = fileURLToPath(new URL("..", import.meta.url));
    await installProgram(root, folder.path);
    const database = await makeDatabase(join(folder.path, "memory.db"));
    const bin = join(folder.path, "bin/reprise.js");
    const serve = () => start([bin, "serve", "--port", "0", "--database", database]);
    return [await measureIdle(serve, scale), await measureAppends(serve, scale)];
  },
};

async function measureIdle(serve: () => Promise<Service>, scale: number): Promise<Measurement> {
  const sizes = { ours: [] as number[], floor: [] as number[] };
  for (let round = 0; round < Math.max(1, Math.round(STARTS * scale)); round += 1) {
    await using ours = await serve();
    await using floor = await start(["--input-type=module", "--eval", BARE]);
    for (const { port } of [ours, floor]) {
      await ask(port, `GET /livez HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    }
    await setTimeout(IDLE_SECONDS * 1000 * scale);
    sizes.ours.push(residentMegabytes(ours.pid));
    sizes.floor.push(residentMegabytes(floor.pid));
  }
  return {
    what: "idle, held against bare Fastify",
    unit: "MB",
    ours: median(sizes.ours),
    floor: median(sizes.floor),
    reach: { at_most: 1.5 },
  };
}

/** Flat: no more than a tenth more after the second half than after the first. */
async function measureAppends(serve: () => Promise<Service>, scale: number): Promise<Measurement> {
  await using service = await serve();
  const { port, pid } = service;
  const ids: string[] = [];
  while (ids.length < SESSIONS) {
    const { id } = JSON.parse(await ask(port, postRequest(port, "/api/sessions", {})));
    ids.push(id);
  }
  const requests = ids.map((id) =>
    postRequest(port, `/api/sessions/${id}/messages`, { content: "x".repeat(200) }),
  );
  let sent = 0;
  const next = (): string => requests[sent++ % requests.length]!;
  const half = async (): Promise<number> => {
    // a tenth of the time is not a measurement anyway, and the tests wait for it
    const seconds = HALF_SECONDS * scale ** 2;
    await load({ port, connections: CONNECTIONS, seconds, next });
    await setTimeout(IDLE_SECONDS * 1000 * scale);
    return residentMegabytes(pid);
  };
  const first = await half();
  const second = await half();
  return {
    what: "after the second half of the appends, held against after the first",
    unit: "MB",
    ours: second,
    floor: first,
    reach: { at_most: 1.1 },
  };
}

function residentMegabytes(pid: number): number {
  const kibibytes = execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(kibibytes) / 1024;
}
