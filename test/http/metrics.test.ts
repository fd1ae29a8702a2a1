import { describe, expect, it } from "vitest";

import { takeLease } from "../../src/store/records/leases/lease.ts";
import { answerQuestion } from "../../src/store/records/questions/answer.ts";
import type { Store } from "../../src/store/store.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { openStream } from "../helpers/stream.ts";
import { execute, owner } from "../helpers/engines.ts";
import { queue } from "../helpers/queue.ts";
import { waitingSession } from "../helpers/waiting-session.ts";

describe("the metrics", () => {
  it("[OPS-1] are Prometheus' text: every series under a HELP and a TYPE, histograms that add up", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    await t.post(id, "hello");
    const answer = await fetch(`${t.url}/metrics`);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const { samples, types } = parse(await answer.text());
    for (const { name } of samples) {
      const family = name.replace(/_(bucket|sum|count)$/, "");
      expect(types.has(name) || types.get(family) === "histogram", name).toBe(true);
    }
    const counts = samples.filter(({ name }) => name.endsWith("_count"));
    expect(counts.length).toBeGreaterThan(3);
    for (const { name, labels, value } of counts) {
      const rest = labels.replace(/[{}]/g, "");
      const most = samples.find(
        (other) =>
          other.name === name.replace(/_count$/, "_bucket") &&
          other.labels.includes('le="+Inf"') &&
          other.labels.includes(rest),
      );
      expect(most?.value, name).toBe(value);
    }
  });

  it("[OPS-1] count requests by method, route and status, appends and their bytes", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    await t.post(id, "four");
    await t.post(id, "é");
    await t.call("GET", "/api/sessions/00000000-0000-4000-8000-000000000000");
    await t.call("GET", "/api/sessions?limit=0");
    const value = await scrape(t);
    const requests = (labels: string) => value("reprise_http_requests_total", labels);
    expect(requests('{method="POST",route="/api/sessions",status="201"}')).toBe(1);
    expect(requests('{method="POST",route="/api/sessions/:id/messages",status="201"}')).toBe(2);
    expect(requests('{method="GET",route="/api/sessions/:id",status="404"}')).toBe(1);
    expect(requests('{method="GET",route="/api/sessions",status="422"}')).toBe(1);
    expect(value("reprise_appends_total")).toBe(2);
    expect(value("reprise_appended_bytes_total")).toBe(6);
    expect(value("reprise_database_operation_duration_seconds_count", '{operation="write"}')).toBe(
      3,
    );
    expect(
      value("reprise_database_refusals_total", '{operation="read",code="session_not_found"}'),
    ).toBe(1);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
    expect(value("reprise_build_info", '{version="1.2.3"}')).toBe(1);
    expect(value("reprise_http_connections_open")).toBeGreaterThan(0);
    const most = value("reprise_database_connections_max");
    expect(most).toBeGreaterThanOrEqual(2);
    expect(value("reprise_database_operations_waiting")).toBe(0);
  });

  it("[OPS-2] hold nothing that a client wrote, and no more series for whatever clients send", async () => {
    await using t = await startTestServer({ token: "t0ken" });
    const headers = { authorization: "Bearer t0ken" };
    const secret = "pr1vate";
    const attack = async (round: number): Promise<void> => {
      for (const [method, path] of [
        ["GET", `/${secret}${round}`],
        ["GET", `/api/sessions/${secret}${round}`],
        ["GET", `/api/sessions?${secret}=${round}`],
        ["PURGE", `/${round}`],
        ["DELETE", `/api/sessions/${secret}`],
        ["POST", "/api/sessions"],
      ] as const) {
        await t.call(method, path, {
          headers: { ...headers, "x-request-id": secret, "user-agent": `${secret}${round}` },
          ...(method === "POST" ? { body: { persona_name: `${secret}${round}` } } : {}),
        });
      }
    };
    await attack(0);
    await t.call("GET", "/metrics", { headers }).catch(() => null);
    const before = parse(await text(t, headers)).samples.length;
    for (let round = 1; round < 20; round += 1) {
      await attack(round);
    }
    const after = await text(t, headers);
    expect(parse(after).samples).toHaveLength(before);
    expect(after).not.toContain(secret);
    expect(after).toContain('method="other",route="none"');
  });

  it("[OPS-3] need the token, or a token for metrics only", async () => {
    await using t = await startTestServer({ token: "whole", metricsToken: "only-numbers" });
    const status = async (path: string, token?: string): Promise<number> =>
      (
        await fetch(`${t.url}${path}`, {
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        })
      ).status;
    expect(await status("/metrics")).toBe(401);
    expect(await status("/metrics", "wrong")).toBe(401);
    expect(await status("/metrics", "whole")).toBe(200);
    expect(await status("/metrics", "only-numbers")).toBe(200);
    for (const path of ["/api/sessions", "/openapi.json", "/metricsx"]) {
      expect(await status(path, "only-numbers"), path).toBe(401);
    }
    expect(await status("/readyz")).toBe(200);
    await expect(startTestServer({ metricsToken: "alone" })).rejects.toMatchObject({
      code: "config_invalid",
    });
  });

  it("[OPS-4] measure how late a live message is, and leave out messages from before", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    await t.post(id, "old");
    await t.post(id, "old too");
    const stream = await openStream(t.url, `/api/sessions/${id}/stream`);
    await stream.received(2);
    await settled(t, (value) => value("reprise_stream_messages_total") === 2);
    expect((await scrape(t))("reprise_stream_lag_seconds_count")).toBe(0);
    expect((await scrape(t))("reprise_streams_open")).toBe(1);
    await t.post(id, "live");
    await stream.received(3);
    await settled(t, (value) => value("reprise_stream_lag_seconds_count") === 1);
    stream.cut();
    await settled(t, (value) => value("reprise_streams_open") === 0);
  });

  it("[OPS-5] count the exchanges of all processes, running and interrupted", async () => {
    await using t = await startTestServer();
    const running = await t.newSession();
    const [interrupted, ended] = [await t.newSession(), await t.newSession()];
    await t.store.write(takeLease, { session_id: running, owner, life_ms: 3_600_000 });
    for (const id of [running, interrupted, ended]) {
      await execute(t.store, "UPDATE sessions SET exchange_open = 1 WHERE id = ?", id);
    }
    await t.call("POST", `/api/sessions/${ended}/end`);
    await execute(t.store, "UPDATE sessions SET exchange_open = 1 WHERE id = ?", ended);
    const value = await scrape(t);
    expect(value("reprise_exchanges", '{state="running"}')).toBe(1);
    expect(value("reprise_exchanges", '{state="interrupted"}')).toBe(1);
    expect(value("reprise_exchanges", '{state="queued"}')).toBe(0);
    expect(value("reprise_queue_oldest_seconds")).toBe(0);
  });

  it("[OPS-5] [OPS-21] [PREFIX-6] count who waits for a person, open questions, tokens and dropped reasoning", async () => {
    await using t = await startTestServer();
    const { id, ids } = await waitingSession(t.store, null, null, null);
    const given = { given: { text: "red" }, note: null, answered_by: "http" } as const;
    await t.store.write(answerQuestion, { reference: id, question: ids[0] ?? "", ...given });
    const used = { exchange_id: id, session_id: id, message_id: "a" };
    for (const input_tokens of [3, 4]) {
      t.server.app.countUse({ type: "usage", ...used, input_tokens, output_tokens: 1 });
    }
    t.server.app.countUse({
      type: "notice",
      exchange_id: id,
      session_id: id,
      sentence: "It is left out.",
      about: "reasoning_dropped",
    });
    const value = await scrape(t);
    expect(value("reprise_reasoning_dropped_total")).toBe(1);
    expect(value("reprise_exchanges", '{state="waiting"}')).toBe(1);
    expect(value("reprise_exchanges", '{state="interrupted"}')).toBe(0);
    expect(value("reprise_questions_open")).toBe(2);
    expect(value("reprise_tokens_total", '{kind="input"}')).toBe(7);
    expect(value("reprise_tokens_total", '{kind="output"}')).toBe(2);
  });

  it("[QUEUE-32] count what is queued, how long the first has waited, and attempts", async () => {
    await using t = await startTestServer();
    for (const text of ["one", "two"]) {
      await queue(t.store, await t.newSession(), text);
    }
    await execute(t.store, "UPDATE exchanges SET attempts = 2");
    const past = "2020-01-01T00:00:00.000Z";
    await execute(t.store, "UPDATE exchanges SET queued_at = ? WHERE content = 'two'", past);
    const value = await scrape(t);
    expect(value("reprise_exchanges", '{state="queued"}')).toBe(2);
    expect(value("reprise_queue_oldest_seconds")).toBeGreaterThan(365 * 24 * 3600);
    expect(value("reprise_queue_attempts")).toBe(4);
  });

  it("[QUEUE-39] count what the process runs, and how much it may", async () => {
    await using t = await startTestServer({ jobs: () => ({ running: 2, max: 4 }) });
    const value = await scrape(t);
    expect([value("reprise_jobs"), value("reprise_jobs_max")]).toEqual([2, 4]);
  });

  it("[OPS-5] [OPS-13] answer while the database does not, without what only the database knows", async () => {
    await using inner = await startTestServer();
    const never = Promise.withResolvers<never>();
    const store: Store = { ...inner.store, read: () => never.promise };
    await using t = await startTestServer({ store });
    const value = await scrape(t);
    expect(value("reprise_exchanges", '{state="running"}')).toBeUndefined();
    expect(value("reprise_build_info", '{version="1.2.3"}')).toBe(1);
  });
});

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** Reads the text form strictly: https://prometheus.io/docs/instrumenting/exposition_formats/. */
function parse(page: string): { samples: Sample[]; types: Map<string, string> } {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  for (const line of page.split("\n")) {
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line);
    const sample =
      /^([a-z_]+)((?:\{(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (\+Inf|NaN|[-\d.e+]+)$/.exec(
        line,
      );
    if (type !== null) {
      types.set(type[1] ?? "", type[2] ?? "");
    } else if (sample !== null) {
      const [, name = "", labels = "", value] = sample;
      samples.push({ name, labels, value: Number(value) });
    } else if (line !== "" && !/^# HELP [a-z_]+ \S/.test(line)) {
      throw new Error(`not of the text form: ${line}`);
    }
  }
  return { samples, types };
}

async function text(t: TestServer, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${t.url}/metrics`, { headers });
  expect(answer.status).toBe(200);
  return answer.text();
}

type Value = (name: string, labels?: string) => number | undefined;

async function scrape(t: TestServer): Promise<Value> {
  const { samples } = parse(await text(t));
  return (name, labels = "") =>
    samples.find((sample) => sample.name === name && sample.labels === labels)?.value;
}

async function settled(t: TestServer, isSo: (value: Value) => boolean): Promise<void> {
  while (!isSo(await scrape(t))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
