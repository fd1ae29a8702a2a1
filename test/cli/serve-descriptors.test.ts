import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { freshHome } from "../helpers/reprise.ts";

const LIMIT = 64;

it.skipIf(!existsSync("/proc/self/fd"))(
  "[HTTP-60] while no file descriptor is left, parts that are still to be loaded answer 503, and 200 afterwards",
  async () => {
    const service = freshHome().startShell(
      `ulimit -n ${LIMIT} && exec reprise serve --port 0 --log`,
    );
    const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
    // one connection that is there before
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = (path: string, body?: string) => answerTo({ url, path, agent, body });
    expect(await ask("/livez")).toMatchObject({ status: 200 });
    const others = await takeDescriptors(url, service.pid);

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

    for (const socket of others) {
      socket.destroy();
    }
    let answer = await ask("/api/artifacts/schemas");
    while (answer.status !== 200) {
      expect(answer.status).toBe(503);
      await sleep(20);
      answer = await ask("/api/artifacts/schemas");
    }
  },
);

/** Connects until the process has none left. */
async function takeDescriptors(url: string, pid: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  while (readdirSync(`/proc/${pid}/fd`).length < LIMIT) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    await once(socket, "connect");
    sockets.push(socket);
  }
  onTestFinished(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  return sockets;
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
