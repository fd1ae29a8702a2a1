import { once } from "node:events";
import http from "node:http";

import { describe, expect, it } from "vitest";

import { batches } from "../../src/store/records/threads/bodies.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import type { Store } from "../../src/store/store.ts";
import { startTestServer } from "../helpers/server.ts";
import { openStream } from "../helpers/stream.ts";

/** A session with so many messages, stored all at once. */
async function sessionWith(store: Store, count: number, content: string): Promise<string> {
  const { id } = await store.write(createSession, {});
  const rows = Array.from({ length: count }, (_, index) => ({
    session_id: id,
    seq: index + 1,
    content,
  }));
  await store.write(async (tx) => {
    for (const batch of batches(rows)) {
      await tx.db.insertInto("messages").values(batch).execute();
    }
    await tx.db.updateTable("sessions").set({ last_seq: count }).where("id", "=", id).execute();
  }, null);
  return id;
}

/** A client that connects and then reads nothing. */
async function openAndStopReading(url: string, path: string): Promise<http.IncomingMessage> {
  const request = http.get(new URL(path, url), { agent: false });
  request.on("error", () => undefined);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.on("error", () => undefined);
  response.pause();
  return response;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

describe("a reader that takes nothing", () => {
  it("[HTTP-33] [HTTP-79] is cut, uses little memory, and resumes by its last id without loss", async () => {
    const responses = new Set<http.ServerResponse>();
    await using t = await startTestServer({ stream: { stallMs: 300 } });
    t.server.app.fastify.server.on("request", (_request, response) => responses.add(response));
    // far more than the sockets of the system hold
    const id = await sessionWith(t.store, 600, "x".repeat(100_000));
    const path = `/api/sessions/${id}/stream`;
    const response = await openAndStopReading(t.url, path);
    let most = 0;
    await until(() => {
      most = Math.max(most, ...[...responses].map(({ writableLength }) => writableLength));
      return t.server.app.streams.open === 0;
    });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(256 * 1024);
    expect(t.server.app.streams.watched).toBe(0);
    // what reached the client before the cut is whole events and a torn one
    let text = "";
    response.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    response.resume();
    await new Promise((resolve) => {
      response.once("close", resolve);
    });
    expect(response.complete).toBe(false);
    const got = text.split("\n\n").slice(0, -1);
    expect(got.length).toBeLessThan(600);
    await t.store.write(endSession, { id });
    const rest = await openStream(t.url, path, { "Last-Event-ID": String(got.length) });
    await rest.ended;
    expect(rest.messages().map(({ seq }) => seq)).toEqual(
      Array.from({ length: 600 - got.length }, (_, index) => got.length + index + 1),
    );
  });

  it("[HTTP-33] a slow reader that does take something is not cut, nor by one message beyond the limit", async () => {
    await using t = await startTestServer({ stream: { stallMs: 1000, unsentBytes: 64 * 1024 } });
    const id = await sessionWith(t.store, 8, "\u0001".repeat(1024 * 1024));
    await t.store.write(endSession, { id });
    const response = await openAndStopReading(t.url, `/api/sessions/${id}/stream`);
    let bytes = 0;
    let pauses = 0;
    for await (const piece of response) {
      bytes += (piece as Buffer).length;
      // about 6 MiB a message in JSON; a pause is far shorter than the stall, all together far longer
      if (bytes > (pauses + 1) * 4 * 1024 * 1024) {
        pauses += 1;
        await new Promise((resolve) => {
          setTimeout(resolve, 250);
        });
      }
    }
    expect(response.complete).toBe(true);
    expect(pauses).toBeGreaterThan(8);
    expect(bytes).toBeGreaterThan(8 * 6 * 1024 * 1024);
  });
});

describe("a long backlog", () => {
  it("[HTTP-34] does not delay other requests", async () => {
    await using t = await startTestServer();
    const id = await sessionWith(t.store, 15_000, "some words of a message");
    await t.store.write(endSession, { id });
    const stream = await openAndStopReading(t.url, `/api/sessions/${id}/stream`);
    let events = 0;
    stream.on("data", (piece: Buffer) => {
      events += piece.toString("latin1").split("\nevent: message\n").length - 1;
    });
    const ended = once(stream, "close").then(() => true);
    stream.resume();
    let answered = 0;
    while (
      !(await Promise.race([ended, t.call("GET", "/api/sessions?limit=1").then(() => false)]))
    ) {
      answered += 1;
    }
    // were it sent in one go, at most one request could get in between
    expect(answered).toBeGreaterThan(10);
    expect(stream.complete).toBe(true);
    expect(events).toBeGreaterThan(14_500);
  });
});

describe("clients that go away", () => {
  it("[HTTP-35] [HTTP-105] leave no stream, no watched session and no listener", async () => {
    await using t = await startTestServer();
    const id = await sessionWith(t.store, 3, "x");
    const warnings: Error[] = [];
    const note = (warning: Error): void => {
      warnings.push(warning);
    };
    process.on("warning", note);
    for (let round = 0; round < 5; round += 1) {
      const streams = await Promise.all(
        Array.from({ length: 20 }, () => openStream(t.url, `/api/sessions/${id}/stream`)),
      );
      await Promise.all(streams.map((stream) => stream.received(3)));
      for (const stream of streams) {
        stream.cut();
      }
      await until(() => t.server.app.streams.open === 0);
      expect(t.server.app.streams.watched).toBe(0);
    }
    const [stream] = [await openStream(t.url, `/api/sessions/${id}/stream`)];
    for (let number = 4; number < 40; number += 1) {
      await t.post(id, "each wakes the stream once more");
      await stream.received(number);
    }
    process.off("warning", note);
    expect(warnings).toEqual([]);
    expect(t.log.filter(({ event }) => event === "failure")).toEqual([]);
    stream.cut();
  });
});
