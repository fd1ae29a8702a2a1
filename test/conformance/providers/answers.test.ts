import { describe, expect, it } from "vitest";

import { CHAT_SERVERS } from "../../helpers/providers/openai/chat-quirks.ts";
import {
  type ErrorCause,
  type Step,
  type StopReason,
  text,
} from "../../helpers/providers/steps.ts";
import { RULED_APIS } from "./apis.ts";
import type { Changing } from "./cases.ts";
import { lines, providerOfTest, send } from "./send.ts";

const ASKED = [{ role: "user", content: "hi" }];

const BODIES: Readonly<Record<string, Changing>> = {
  anthropic: { model: "claude-opus-5-5", max_tokens: 10, messages: ASKED },
  responses: { model: "gpt-6.1-sol", input: ASKED },
  chat: { model: "gpt-4.1", messages: ASKED },
  ollama: { model: "llama3.2:3b", messages: ASKED },
};

/** Why an answer ends, as each API says it; null if it ends as a complete one does. */
const STOPS: Readonly<Record<string, Readonly<Record<StopReason, object | null>>>> = {
  anthropic: {
    length: { stop_reason: "max_tokens" },
    refused: { stop_reason: "refusal" },
    context_full: { stop_reason: "model_context_window_exceeded" },
    paused: { stop_reason: "pause_turn" },
  },
  responses: {
    length: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    refused: { status: "incomplete", incomplete_details: { reason: "content_filter" } },
    context_full: { status: "failed", error: { code: "context_length_exceeded" } },
    paused: null,
  },
  chat: {
    length: { choices: [{ finish_reason: "length" }] },
    refused: { choices: [{ finish_reason: "content_filter" }] },
    context_full: { choices: [{ finish_reason: "length" }] },
    paused: null,
  },
  ollama: {
    length: { done_reason: "length" },
    refused: null,
    context_full: { done_reason: "length" },
    paused: null,
  },
};

const COMPLETE: Readonly<Record<string, object>> = {
  anthropic: { stop_reason: "end_turn" },
  responses: { status: "completed", error: null },
  chat: { choices: [{ finish_reason: "stop" }] },
  ollama: { done_reason: "stop" },
};

/** The last event of a stream that an error ends. */
const ERRORS: Readonly<Record<string, Readonly<Record<ErrorCause, object>>>> = {
  anthropic: {
    overloaded: { type: "error", error: { type: "overloaded_error" } },
    rate_limited: { type: "error", error: { type: "rate_limit_error" } },
    failed: { type: "error", error: { type: "api_error" } },
  },
  responses: {
    overloaded: { type: "error", code: "server_is_overloaded" },
    rate_limited: { type: "error", code: "rate_limit_exceeded" },
    failed: { type: "response.failed", response: { error: { code: "server_error" } } },
  },
  chat: {
    overloaded: { error: { code: 503 } },
    rate_limited: { error: { code: 429 } },
    failed: { error: { code: 502 } },
  },
  ollama: {
    overloaded: { error: expect.any(String) },
    rate_limited: { error: expect.any(String) },
    failed: { error: expect.any(String) },
  },
};

describe.each(Object.entries(RULED_APIS))("an answer of the mock of %s", (name, api) => {
  const start = async (steps: readonly Step[]) => {
    const options = { quirks: CHAT_SERVERS.openrouter };
    const provider = await providerOfTest(api.provider, () => steps, options);
    return { url: `${provider.url}${api.path}`, headers: api.headers("test-key"), provider };
  };

  it.each(Object.entries(STOPS[name] ?? {}))("says why it ends: %s", async (reason, expected) => {
    const steps: Step[] = [text("Half"), { kind: "stop", reason: reason as StopReason }];
    const { url, headers } = await start(steps);
    const { answer } = await send(url, { ...BODIES[name], stream: false }, headers);
    expect(answer).toMatchObject(expected ?? COMPLETE[name] ?? {});
  });

  it.each(Object.entries(ERRORS[name] ?? {}))(
    "ends with an error in its middle: %s",
    async (cause, expected) => {
      const steps: Step[] = [text("Half"), { kind: "error", cause: cause as ErrorCause }];
      const { url, headers, provider } = await start([...steps, text(" more")]);
      const events = await lines(url, { ...BODIES[name], stream: true }, headers);
      expect(events.at(-1)).toMatchObject(expected);
      expect(JSON.stringify(events)).toContain("Half");
      expect(JSON.stringify(events)).not.toContain("more");
      expect(provider.received[0]?.usage).toBeNull();
    },
  );

  it("counts the tokens of a request and its answer", async () => {
    const { url, headers, provider } = await start([text("w".repeat(360))]);
    await send(url, { ...BODIES[name], stream: false }, headers);
    expect(provider.received[0]?.usage).toMatchObject({ output: 100, reasoning: 0, cacheRead: 0 });
    expect(provider.received[0]?.usage?.input).toBeGreaterThan(0);
  });

  it("can be a status instead, with headers", async () => {
    const { url, headers } = await start([{ kind: "status", status: 529 }]);
    expect(await send(url, BODIES[name], headers)).toMatchObject({ status: 529 });
  });
});
