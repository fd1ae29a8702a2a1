import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { OTHER_KEY, OWN_KEY, PASSWORD, QUESTION, QUOTES } from "../../helpers/quoted-secrets.ts";
import { chatAnswer, event, type RawAnswer, startRawProvider } from "../../helpers/raw-provider.ts";

/** A session whose provider sends these answers. */
async function benchOf(answer: (index: number) => RawAnswer) {
  const provider = await startRawProvider("chat", answer);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const env = {
    ...provider.env,
    OPENAI_API_KEY: OWN_KEY,
    ANTHROPIC_API_KEY: OTHER_KEY,
    OLLAMA_BASE_URL: `http://ada:${PASSWORD}@127.0.0.1:1`,
  };
  const models = { ...modelConfig(env), retryDelayMs: 1 };
  return openBench({ env: () => env }, env, { models });
}

const refusal = (message: string): RawAnswer => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error" } },
});

describe("a provider's reason", () => {
  it("[CLI-37] is a part of the sentence, on one line of 300 characters at most", async () => {
    const bench = await benchOf((index) =>
      index === 0
        ? refusal('tools.3.custom.input_schema:\n\tJSON schema is "invalid"\u202e.')
        : refusal("long ".repeat(200)),
    );
    await expect(bench.run({ text: "question" })).rejects.toMatchObject({
      code: "model_failed",
      message:
        "The OpenAI service rejected the request (status 400, invalid_request_error): \"tools.3.custom.input_schema: JSON schema is 'invalid'.\". Try another model or a new session.",
    });
    const { detail } = bench.events.findLast((each) => each.type === "failed") ?? { detail: "" };
    expect(detail).toContain("tools.3.custom.input_schema");
    await expect(bench.run({ text: null })).rejects.toThrow(/^.{300,450}$/);
  });

  it("[EXCHANGE-30] [CLI-37] holds no secret and nothing of the request: neither sentences, events, nor the database do", async () => {
    expect(QUOTES.length).toBeGreaterThanOrEqual(40);
    const bench = await benchOf((index) => {
      const [message] = QUOTES[Math.floor(index / 2)] ?? [""];
      // a status, and an error in the stream
      return index % 2 === 0
        ? refusal(message)
        : chatAnswer({ text: "half" }) + event({ error: { code: 400, message } });
    });
    const allowed = new Set([QUESTION]);
    for (const [text, ...secrets] of QUOTES) {
      for (let times = 0; times < 2; times += 1) {
        const session = await bench.store.write(createSession, { repo_path: bench.repo });
        bench.events.length = 0;
        const sentence = await bench.run({ text: QUESTION, session_id: session.id }).then(
          () => expect.unreachable("it did not fail"),
          (error: Error) => error.message,
        );
        const seen = `${sentence}\n${JSON.stringify(bench.events)}`;
        expect(sentence, text).toMatch(/^The OpenAI service rejected the request \(status 400/);
        for (const secret of secrets) {
          expect(sentence.includes(secret), `${text} in ${sentence}`).toBe(false);
          expect(seen.includes(JSON.stringify(secret).slice(1, -1)), text).toBe(false);
        }
      }
    }
    const folder = dirname(bench.database);
    const stored = readdirSync(folder)
      .filter((name) => name.startsWith(bench.database.slice(folder.length + 1)))
      .map((name) => readFileSync(join(folder, name), "latin1"))
      .join("");
    for (const secret of QUOTES.flatMap(([, ...secrets]) => secrets)) {
      // the user's own message is stored, and every file has control characters
      if (secret.length > 3 && ![...allowed].some((own) => own.includes(secret))) {
        expect(stored.includes(secret), secret).toBe(false);
      }
    }
  });

  it("[RETRY-10] is not shown to other sessions that have to wait for the same provider", async () => {
    const bench = await benchOf(() => ({
      status: 429,
      body: { error: { message: "Limit of account 42 reached" } },
      headers: { "retry-after": "3600" },
    }));
    await expect(bench.run({ text: "question" })).rejects.toThrow("Limit of account 42");
    const other = await bench.store.write(createSession, {});
    const sentence = await bench
      .run({ text: "another", session_id: other.id })
      .catch((error: Error) => error.message);
    expect(sentence).toContain("It asks to wait 60 minutes");
    expect(sentence).not.toContain("account 42");
  });
});
