import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

import { expect, it, onTestFinished } from "vitest";

import { freshHome } from "../helpers/reprise.ts";

const PRLIMIT = "prlimit";

it.skipIf(spawnSync(PRLIMIT, ["--version"]).status !== 0)(
  "[HTTP-60] without a free file descriptor, parts that are not loaded yet answer 503, and 200 later",
  async () => {
    const service = freshHome().start(["serve", "--port", "0", "--log"]);
    const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
    // one connection that is there before
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = (path: string, body?: string) => answerTo({ url, path, agent, body });
    expect(await ask("/livez")).toMatchObject({ status: 200 });
    // fewer than it has: it gets no other one
    limitDescriptors(service.pid, 3);

    for (const [path, body] of [
      ["/api/artifacts/schemas"],
      ["/api/artifacts/validate", '{"text":"{}"}'],
    ] as const) {
      expect(await ask(path, body)).toMatchObject({
        status: 503,
        retryAfter: "5",
        json: { code: "descriptors_exhausted" },
      });
    }
    expect(await ask("/livez")).toMatchObject({ status: 200 });

    limitDescriptors(service.pid, 1000);
    expect(await ask("/api/artifacts/schemas")).toMatchObject({ status: 200 });
  },
);

function limitDescriptors(pid: number, soft: number): void {
  const { status, stderr } = spawnSync(PRLIMIT, ["--pid", `${pid}`, `--nofile=${soft}:`]);
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: "" });
}

interface Asked {
  readonly url: string;
  readonly path: string;
  readonly agent: Agent;
  readonly body: string | undefined;
}

async function answerTo({ url, path, agent, body }: Asked) {
  const outgoing = request(new URL(path, url), {
    agent,
    method: body === undefined ? "GET" : "POST",
    headers: body === undefined ? {} : { "content-type": "application/json" },
  });
  outgoing.end(body);
  const [incoming]: [IncomingMessage] = (await once(outgoing, "response")) as [IncomingMessage];
  return {
    status: incoming.statusCode,
    retryAfter: incoming.headers["retry-after"],
    json: JSON.parse(await text(incoming)) as unknown,
  };
}
