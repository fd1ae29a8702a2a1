import net from "node:net";

import { expect, it } from "vitest";

import { startTestServer } from "../helpers/server.ts";
import { until } from "../helpers/unread.ts";

it("[HTTP-249] bodies that hardly arrive lose their part of the budget once others wait, with 408", async () => {
  // no time-out may help
  await using t = await startTestServer({ timeouts: { requestMs: 600_000 } });
  const id = await t.newSession();
  const { host, hostname, port } = new URL(t.url);
  const head = `POST /api/sessions/${id}/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 6000000\r\n\r\n{"content":"`;
  const answers: string[] = [];
  let ended = 0;
  const sockets = Array.from({ length: 30 }, (_, index) => {
    const socket = net.connect(Number(port), hostname);
    socket.on("error", () => undefined);
    answers.push("");
    socket.setEncoding("latin1").on("data", (piece: string) => {
      answers[index] += piece;
    });
    socket.once("close", () => {
      ended += 1;
    });
    socket.write(head + "x".repeat(100_000));
    return socket;
  });
  // as large as those
  await t.post(id, "\u0001".repeat(1_000_000));
  await until(() => ended > 0);
  const refused = answers.filter((text) => text !== "");
  expect(refused.length).toBeGreaterThan(0);
  for (const text of refused) {
    expect(text).toMatch(/^HTTP\/1\.1 408 [^]*connection: close[^]*"code":"request_timeout"/i);
  }
  sockets.forEach((socket) => socket.destroy());
});

it("[HTTP-249] bodies that arrive slowly are read while no others wait", async () => {
  await using t = await startTestServer({ timeouts: { requestMs: 600_000 } });
  const id = await t.newSession();
  const { host, hostname, port } = new URL(t.url);
  const body = JSON.stringify({ content: "x".repeat(200_000) });
  const socket = net.connect(Number(port), hostname).setEncoding("latin1");
  let answer = "";
  socket.on("data", (piece: string) => {
    answer += piece;
  });
  socket.write(
    `POST /api/sessions/${id}/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  for (let at = 0; at < body.length; at += 50_000) {
    socket.write(body.slice(at, at + 50_000));
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
  }
  await until(() => answer.startsWith("HTTP/1.1 201 "));
  socket.destroy();
});
