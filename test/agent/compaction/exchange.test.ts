import { writeFileSync } from "node:fs";

import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { estimateTokens } from "../../../src/core/text/text.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { startThread } from "../../../src/store/records/sessions/change.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type ModelServer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";

const WINDOW = 4000;
/** Tokens of the system prompt and the tools, as this provider counts them. */
const OVERHEAD = 500;

const live = { listener: () => {}, signal: new AbortController().signal };

function isSummaryCall(messages: readonly SentMessage[]): boolean {
  return messages.at(-1)?.content.includes("<conversation>") ?? false;
}

/** Counts what it is sent, as providers do. */
function counted(messages: readonly SentMessage[], answer: ModelAnswer): ModelAnswer {
  const sent = messages.reduce((sum, { content }) => sum + estimateTokens(content), OVERHEAD);
  return { ...answer, usage: { prompt_tokens: sent, completion_tokens: 7 } };
}

function summarising(): Promise<ModelServer> {
  let summaries = 0;
  return startModelServer({
    answer: (messages, index) =>
      counted(messages, {
        content: isSummaryCall(messages) ? `SUMMARY ${++summaries}` : `answer ${index}`,
      }),
  });
}

async function openSmall(server: ModelServer, window = WINDOW): Promise<Bench> {
  return openBench(server, { REPRISE_CONTEXT_TOKENS: String(window) });
}

it("[RETRY-1] a summary that failed with a transient error is asked for again, also by /compact", async () => {
  let failures = 0;
  const server = await startModelServer({
    answer: (messages) => {
      if (isSummaryCall(messages) && failures % 2 === 0) {
        failures += 1;
        return { error: { message: "busy" }, status: 503 };
      }
      failures += isSummaryCall(messages) ? 1 : 0;
      return counted(messages, { content: isSummaryCall(messages) ? "SUMMARY" : "answer" });
    },
  });
  const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  const models = { ...modelConfig({ ...env, REPRISE_CONTEXT_TOKENS: "4000" }), retryDelayMs: 1 };
  const bench = await openBench(server, {}, { models });
  for (let index = 0; index < 5; index += 1) {
    await bench.run({ text: question(index) });
  }
  const retries = bench.events.filter(({ type }) => type === "retry").length;
  expect(retries).toBeGreaterThan(0);
  expect(failures).toBe(2 * retries);
  const exchanger = createExchanger(bench.parts);
  const { outcome } = await exchanger.compact({ session_id: bench.session.id }, live);
  expect(outcome).toBe("compacted");
  expect(failures).toBe(2 * retries + 2);
});

function question(index: number): string {
  return `question ${index} ${"word ".repeat(600)}`;
}

async function rowsOf(bench: Bench) {
  return (await bench.store.read(readDetail, { reference: bench.session.id, all: true })).messages;
}

async function expectProven(bench: Bench): Promise<void> {
  expect((await verifySession(bench.store, bench.session.id)).findings).toEqual([]);
}

it("[LONG-3] [LONG-4] [LONG-14] summarises older messages for the model and keeps every row", async () => {
  const server = await summarising();
  const bench = await openSmall(server);
  for (let index = 0; index < 9; index += 1) {
    await bench.run({ text: question(index) });
  }
  const rows = await rowsOf(bench);
  const said = rows.filter(({ is_summary }) => !is_summary);
  expect(said.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(
    Array.from({ length: 9 }, (_, index) => question(index)),
  );
  const summaries = rows.filter(({ is_summary }) => is_summary);
  expect(summaries.map(({ role, content }) => `${role} ${content}`)).toEqual([
    "assistant SUMMARY 1",
    "assistant SUMMARY 2",
  ]);
  // each is between the question and the answer that was given with it
  const at = rows.findIndex(({ is_summary }) => is_summary);
  expect(rows[at - 1]?.role).toBe("user");
  expect(rows[at + 1]?.role).toBe("assistant");
  const requests = server.requests();
  for (const request of requests.filter((one) => !isSummaryCall(one))) {
    const tokens = request.reduce((sum, { content }) => sum + estimateTokens(content), OVERHEAD);
    expect(tokens).toBeLessThan(WINDOW);
  }
  const last = requests.at(-1)!;
  expect(last[0]?.content).toContain("SUMMARY 2");
  expect(last.at(-1)?.content).toBe(question(8));
  expect(last.map(({ content }) => content).join()).not.toContain("SUMMARY 1");
  // the second summary carries the first one on
  expect(requests.filter(isSummaryCall)[1]?.at(-1)?.content).toContain(
    "<summary_so_far>\nSUMMARY 1\n",
  );
  expect(bench.events.filter(({ type }) => type === "notice")).toHaveLength(2);
  expect(bench.events.some((event) => event.type === "text" && event.text.includes("SUMM"))).toBe(
    false,
  );
  await expectProven(bench);
});

it("[LONG-4] [LONG-15] counts the tokens of the summaries", async () => {
  const server = await summarising();
  const bench = await openSmall(server);
  for (let index = 0; index < 6; index += 1) {
    await bench.run({ text: question(index) });
  }
  const session = await bench.store.read(readSession, { id: bench.session.id });
  const charged = server
    .requests()
    .map((request) =>
      request.reduce((sum, { content }) => sum + estimateTokens(content), OVERHEAD),
    );
  expect(server.requests().some(isSummaryCall)).toBe(true);
  expect(session.total_input_tokens).toBe(charged.reduce((sum, tokens) => sum + tokens, 0));
  expect(session.total_output_tokens).toBe(charged.length * 7);
});

it("[LONG-5] compacts during an exchange with tools, and keeps calls with their results", async () => {
  const server = await startModelServer({
    answer: (messages, index) => {
      if (isSummaryCall(messages)) {
        return counted(messages, { content: "SUMMARY" });
      }
      return counted(
        messages,
        index < 12
          ? {
              toolCalls: ["a", "b"].map((name) => ({
                id: `${name}${index}`,
                name: "read_file",
                arguments: JSON.stringify({ path: `${name}.txt` }),
              })),
            }
          : { content: "done" },
      );
    },
  });
  const bench = await openSmall(server);
  writeFileSync(`${bench.repo}/a.txt`, "alpha ".repeat(200));
  writeFileSync(`${bench.repo}/b.txt`, "beta ".repeat(200));
  const { answer } = await bench.run({ text: "read them again and again" });
  expect(answer).toBe("done");
  expect(server.refused()).toEqual([]);
  const compacted = server.requests().filter((one) => one[0]?.content.includes("<summary>"));
  expect(compacted.length).toBeGreaterThan(0);
  for (const request of compacted) {
    // the running request is shown word for word
    expect(request[0]?.role).toBe("user");
    expect(request[0]?.content).toContain("read them again and again");
  }
  const rows = await rowsOf(bench);
  expect(rows.filter(({ role }) => role === "tool").length).toBeGreaterThan(15);
  expect(rows.filter(({ is_summary }) => is_summary).length).toBeGreaterThan(0);
  await expectProven(bench);
  await bench.run({ text: "and now?" });
  expect(server.refused()).toEqual([]);
});

it("[LONG-6] shows the same view in another process, and none of it in a new thread", async () => {
  const server = await summarising();
  const bench = await openSmall(server);
  for (let index = 0; index < 5; index += 1) {
    await bench.run({ text: question(index) });
  }
  await createExchanger(bench.parts).exchange(
    { session_id: bench.session.id, text: "go on" },
    live,
  );
  const sent = server.requests().at(-1)!;
  expect(sent[0]?.content).toContain("SUMMARY 1");
  expect(sent.map(({ content }) => content)).not.toContain(question(0));
  await bench.store.write(startThread, { id: bench.session.id, archive: true });
  await bench.run({ text: "afresh" });
  expect(
    server
      .requests()
      .at(-1)
      ?.map(({ content }) => content),
  ).toEqual(["afresh"]);
  await expectProven(bench);
});

it("[LONG-7] continues with the whole history, and says so, if the summary fails", async () => {
  let refusals = 0;
  const server = await startModelServer({
    answer: (messages) => {
      if (isSummaryCall(messages)) {
        refusals += 1;
        return { error: { message: "no", type: "invalid_request_error" }, status: 400 };
      }
      return counted(messages, { content: "answer" });
    },
  });
  const bench = await openSmall(server);
  for (let index = 0; index < 5; index += 1) {
    await bench.run({ text: question(index) });
  }
  expect(refusals).toBeGreaterThan(0);
  expect(server.requests().at(-1)).toHaveLength(9);
  const notices = bench.events.filter(({ type }) => type === "notice");
  expect(notices.length).toBe(refusals);
  expect((await rowsOf(bench)).filter(({ is_summary }) => is_summary)).toEqual([]);
  await expectProven(bench);
});

it("[LONG-8] compacts once and asks again if the provider reports that the context is full", async () => {
  const server = await startModelServer({
    answer: (messages) => {
      const tokens = messages.reduce((sum, { content }) => sum + estimateTokens(content), OVERHEAD);
      // a model that reads far less than is known of it
      return tokens > 2500
        ? { error: { message: "full", code: "context_length_exceeded" }, status: 400 }
        : counted(messages, { content: isSummaryCall(messages) ? "SUMMARY" : "answer" });
    },
  });
  const bench = await openSmall(server, 100_000);
  for (let index = 0; index < 8; index += 1) {
    const { answer } = await bench.run({ text: question(index) });
    expect(answer).toBe("answer");
  }
  expect((await rowsOf(bench)).filter(({ is_summary }) => is_summary).length).toBeGreaterThan(0);
  await expectProven(bench);
  // nothing that could be left out makes this one fit
  await expect(bench.run({ text: "far too long ".repeat(2000) })).rejects.toMatchObject({
    code: "model_context_full",
  });
  await expectProven(bench);
});

it("[LONG-7] can be stopped while it summarises, and summarises again when it is continued", async () => {
  const stop = new AbortController();
  const server = await startModelServer({
    answer: (messages) => {
      if (isSummaryCall(messages) && !stop.signal.aborted) {
        stop.abort();
      }
      return counted(messages, { content: isSummaryCall(messages) ? "SUMMARY" : "answer" });
    },
    latencyMs: 50,
    chunkSize: 2,
  });
  const bench = await openSmall(server);
  let last = await bench.run({ text: question(0) });
  for (let index = 1; !stop.signal.aborted; index += 1) {
    last = await bench.run({ text: question(index) }, { signal: stop.signal });
  }
  expect(last).toMatchObject({ state: "stopped", answer: "" });
  expect(bench.events.filter(({ type }) => type === "notice")).toEqual([]);
  expect((await rowsOf(bench)).filter(({ is_summary }) => is_summary)).toEqual([]);
  expect((await bench.run({ text: null })).answer).toBe("answer");
  expect(server.requests().at(-1)?.[0]?.content).toContain("SUMMARY");
  await expectProven(bench);
});

it("[LONG-9] compacts on demand all but the last exchange, and says if there is nothing to compact", async () => {
  const server = await summarising();
  const bench = await openBench(server);
  const exchanger = createExchanger(bench.parts);
  const request = { session_id: bench.session.id };
  expect((await exchanger.compact(request, live)).outcome).toBe("nothing");
  for (const text of ["one", "two", "three"]) {
    await bench.run({ text });
  }
  expect((await exchanger.compact(request, live)).outcome).toBe("compacted");
  expect((await exchanger.compact(request, live)).outcome).toBe("nothing");
  const { activity } = await bench.store.read(readSession, { id: bench.session.id });
  expect(activity).toBe("idle");
  await expect(bench.run({ text: null })).rejects.toMatchObject({ code: "nothing_to_continue" });
  await bench.run({ text: "four" });
  const sent = server.requests().at(-1)!;
  expect(sent[0]?.content).toContain("SUMMARY 1");
  expect(sent.slice(1).map(({ content }) => content)).toEqual(["three", "answer 2", "four"]);
  const rows = await rowsOf(bench);
  expect(rows.map(({ role }) => role).join(" ")).toBe(
    "user assistant user assistant user assistant assistant user assistant",
  );
  await expectProven(bench);
});

it("[LONG-9] compacts a session whose model failed; the session then continues", async () => {
  let failing = false;
  const server = await startModelServer({
    answer: (messages) =>
      failing && !isSummaryCall(messages)
        ? { error: { message: "no", type: "invalid_request_error" }, status: 400 }
        : counted(messages, { content: isSummaryCall(messages) ? "SUMMARY" : "answer" }),
  });
  const bench = await openBench(server);
  await bench.run({ text: "one" });
  failing = true;
  await expect(bench.run({ text: "two" })).rejects.toMatchObject({ code: "model_failed" });
  const exchanger = createExchanger(bench.parts);
  const done = await exchanger.compact({ session_id: bench.session.id }, live);
  expect(done.outcome).toBe("compacted");
  expect(done.session.activity).toBe("interrupted");
  failing = false;
  expect((await bench.run({ text: null })).answer).toBe("answer");
  const sent = server.requests().at(-1)!;
  expect(sent.map(({ content }) => content).slice(1)).toEqual(["two"]);
  await expectProven(bench);
});

it("[LONG-10] summarises what is longer than the window in several calls", async () => {
  const server = await summarising();
  const bench = await openBench(server);
  for (let index = 0; index < 4; index += 1) {
    await bench.run({ text: question(index) });
  }
  const small = { ...bench.parts.models, contextTokens: "1000" };
  const exchanger = createExchanger({ ...bench.parts, models: small });
  await exchanger.compact({ session_id: bench.session.id }, live);
  const calls = server.requests().filter(isSummaryCall);
  expect(calls.length).toBeGreaterThan(1);
  for (const [index, call] of calls.entries()) {
    expect(call.at(-1)?.content.includes(`SUMMARY ${index}`)).toBe(index > 0);
  }
  const text = calls.map((call) => call.at(-1)?.content).join();
  for (let index = 0; index < 3; index += 1) {
    expect(text).toContain(`question ${index} `);
  }
  const rows = await rowsOf(bench);
  expect(rows.at(-1)).toMatchObject({ is_summary: true, content: `SUMMARY ${calls.length}` });
  await expectProven(bench);
});
