import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import type { SessionDetail } from "../../../src/core/schemas/schemas.ts";
import { openPage } from "../../helpers/page-client.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";
import {
  randomMessages,
  sendAndNotRead,
  type UnreadConnection,
  until,
} from "../../helpers/unread.ts";

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

/** A session with 24 messages of 500 KB. */
const longSession = (t: TestServer) => randomMessages(t, { messages: 24, bytes: 375_000 });

describe("answers that nobody reads", () => {
  it("[HTTP-240] hold no more than their budget, and make the pages of others small", async () => {
    await using t = await startTestServer({ unsent: { maxBytes: 8 * MIB } });
    const id = await longSession(t);
    const { unsent } = t.server.app;
    const connections: UnreadConnection[] = [];
    let most = 0;
    for (let index = 0; index < 40; index += 1) {
      const path = index % 2 === 0 ? `/api/sessions/${id}/messages` : `/api/sessions/${id}`;
      connections.push(await sendAndNotRead(t, { path, times: 20 }));
      most = Math.max(most, unsent.bytes);
    }
    await until(() => {
      most = Math.max(most, unsent.bytes);
      return unsent.bytes > 6 * MIB;
    });
    let other = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
    await until(async () => {
      const isBusy = other.status === 503;
      other = isBusy ? await t.call<SessionDetail>("GET", `/api/sessions/${id}`) : other;
      return !isBusy;
    });
    expect(other.status).toBe(200);
    expect(other.json.messages.length).toBeLessThanOrEqual(2);
    expect(other.json.has_earlier).toBe(true);
    const list = await t.call("GET", "/api/sessions");
    expect(list.status).toBe(200);
    expect(most).toBeLessThanOrEqual(8 * MIB);
    connections.forEach(({ socket }) => socket.destroy());
    await until(() => unsent.bytes === 0);
    // a page may take a quarter of the budget again
    const again = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
    expect(again.json.messages.length).toBe(4);
  });

  it("[HTTP-241] give their bytes back once others need them: 503 only until then", async () => {
    await using t = await startTestServer({ unsent: { maxBytes: 4 * MIB } });
    const id = await longSession(t);
    const path = `/api/sessions/${id}/messages`;
    const readers: UnreadConnection[] = [];
    for (let index = 0; index < 40; index += 1) {
      readers.push(await sendAndNotRead(t, { path, times: 20 }));
    }
    const statuses = new Set<number>();
    await until(async () => {
      await sleep(100);
      const answers = await Promise.all(Array.from({ length: 4 }, () => t.call("GET", path)));
      answers.forEach(({ status }) => statuses.add(status));
      const refused = answers.find(({ status }) => status === 503);
      expect(refused?.text ?? "answers_unread").toContain("answers_unread");
      expect(refused?.headers.get("retry-after") ?? "5").toBe("5");
      return readers.some(({ side }) => side.destroyed) && statuses.has(200);
    });
    expect([...statuses].filter((status) => ![200, 503].includes(status))).toEqual([]);
    readers.forEach(({ socket }) => socket.destroy());
  });

  it.each([
    { what: "large", times: 1, headers: "" },
    { what: "compressed", times: 1, headers: "Accept-Encoding: br\r\n" },
    { what: "pipelined", times: 100, headers: "" },
  ])("[HTTP-242] that are $what end their connection", async ({ what, ...request }) => {
    await using t = await startTestServer({ unsent: { stallMs: 300 } });
    const id = await longSession(t);
    const query = what === "pipelined" ? "?limit=1" : "";
    const path = `/api/sessions/${id}/messages${query}`;
    const { side } = await sendAndNotRead(t, { path, ...request });
    await until(() => side.destroyed);
    await until(() => t.server.app.unsent.bytes === 0);
  });

  it("[HTTP-242] do not end the connection of a slow reader that takes something", async () => {
    await using t = await startTestServer({ unsent: { stallMs: 1000 } });
    const id = await longSession(t);
    const response = await fetch(`${t.url}/api/sessions/${id}/messages`, {
      headers: { "accept-encoding": "identity" },
    });
    const length = Number(response.headers.get("content-length"));
    let bytes = 0;
    let pauses = 0;
    for await (const piece of response.body ?? []) {
      bytes += piece.length;
      if (bytes > (pauses + 1) * 1.5 * MIB) {
        pauses += 1;
        await sleep(300);
      }
    }
    expect(pauses).toBeGreaterThan(5);
    expect(bytes).toBe(length);
  });
});

describe("pipelined requests", () => {
  it("[HTTP-243] are answered in their order, one after the other", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    const { host, hostname, port } = new URL(t.url);
    const socket = net.connect(Number(port), hostname);
    const post = (content: string): string => {
      const body = JSON.stringify({ content });
      return `POST /api/sessions/${id}/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    socket.write(Array.from({ length: 50 }, (_, index) => post(`message ${index}`)).join(""));
    let text = "";
    socket.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    await until(() => text.split("HTTP/1.1 201").length === 51);
    const { json } = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
    expect(json.messages.map(({ content }) => content)).toEqual(
      Array.from({ length: 50 }, (_, index) => `message ${index}`),
    );
    socket.destroy();
  });

  it("[HTTP-243] are not begun before the answer before theirs was taken", async () => {
    await using t = await startTestServer({ unsent: { stallMs: HOUR_MS } });
    const [long, id] = [await longSession(t), await t.newSession()];
    const { socket } = await sendAndNotRead(t, { path: `/api/sessions/${long}` });
    const body = JSON.stringify({ content: "pipelined" });
    const { host } = new URL(t.url);
    socket.write(
      `POST /api/sessions/${id}/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => t.server.app.unsent.bytes > 4 * MIB);
    const stored = async (): Promise<string[]> => {
      const { json } = await t.call<SessionDetail>("GET", `/api/sessions/${id}`);
      return json.messages.map(({ content }) => content);
    };
    // each of these is sent after it
    const others = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    for (const content of others) {
      await t.post(id, content);
    }
    expect(await stored()).toEqual(others);
    socket.resume();
    await until(async () => (await stored()).includes("pipelined"));
    socket.destroy();
  });

  it("[HTTP-243] end their connection if more than 100 wait", async () => {
    await using t = await startTestServer();
    const { side, socket } = await sendAndNotRead(t, { path: "/api/sessions", times: 500 });
    await until(() => side.destroyed);
    // one that takes nothing is closed after a while, too, but then all have their answers
    const answered = t.log.filter(
      ({ route, status }) => route === "/api/sessions" && status === 200,
    );
    expect(answered.length).toBeLessThan(200);
    const { status } = await t.call("GET", "/api/sessions");
    expect(status).toBe(200);
    socket.destroy();
    expect(t.log.filter(({ event }) => event === "failure")).toEqual([]);
  });
});

describe("a page of messages for a visitor", () => {
  it("[HTTP-244] holds 1 MiB at most", async () => {
    const token = "the-token-of-the-service";
    await using t = await startTestServer({ token });
    const headers = { authorization: `Bearer ${token}` };
    const { json: session } = await t.call<{ id: string }>("POST", "/api/sessions", { headers });
    const { id } = session;
    for (let index = 0; index < 6; index += 1) {
      const body = { content: "x".repeat(400_000) };
      await t.call("POST", `/api/sessions/${id}/messages`, { body, headers });
    }
    const client = createClient({ baseUrl: t.url, token });
    const page = openPage(t);
    await page.login({ share: (await client.createShare(id)).secret });
    const detail = await page.call<SessionDetail>("GET", `/api/sessions/${id}`);
    expect(detail.status).toBe(200);
    expect(detail.json.messages.map(({ seq }) => seq)).toEqual([5, 6]);
    expect(detail.json.has_earlier).toBe(true);
    const list = await page.call<unknown[]>("GET", `/api/sessions/${id}/messages`);
    expect(list.json).toHaveLength(2);
    expect(list.headers.get("link")).toContain("after_seq=2");
    const owner = await t.call<unknown[]>("GET", `/api/sessions/${id}/messages`, { headers });
    expect(owner.json).toHaveLength(6);
  });
});
