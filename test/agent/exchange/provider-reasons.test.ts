import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { createSettings } from "../../../src/rules/config/settings.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { setModelSettings } from "../../../src/store/records/sessions/model-settings.ts";
import { openBench } from "../../helpers/exchanger.ts";
import {
  ALL_QUOTES,
  OTHER_KEY,
  OWN_KEY,
  PASSWORD,
  QUESTION,
  QUOTES,
} from "../../helpers/quoted-secrets.ts";
import { chatAnswer, event, type RawAnswer, startRawProvider } from "../../helpers/raw-provider.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** A session whose provider sends these answers. */
async function benchOf(
  answer: (index: number) => RawAnswer,
  more: Readonly<Record<string, string>> = {},
  providers: Readonly<Record<string, unknown>> = {},
) {
  const provider = await startRawProvider("chat", answer);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const env = {
    ...provider.env,
    OPENAI_API_KEY: OWN_KEY,
    ANTHROPIC_API_KEY: OTHER_KEY,
    OLLAMA_BASE_URL: `http://ada:${PASSWORD}@127.0.0.1:1`,
    ...more,
  };
  const file = join(temporaryFolder(), "config.jsonc");
  writeFileSync(file, JSON.stringify({ providers }));
  const { models: configured } = await createSettings({ env, file, home: dirname(file) }).at(null);
  const models = { ...configured, retryDelayMs: 1 };
  return openBench({ env: () => env }, env, { models });
}

/** Two parts of a text. */
const chunksOf = (text: string) => {
  const middle = text.indexOf(OWN_KEY) + 5;
  return [text.slice(0, middle), text.slice(middle)];
};

const refusal = (message: string): RawAnswer => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error" } },
});

describe("a provider's reason", () => {
  it("[CLI-37] is a part of the sentence, on one line of 300 characters at most", async () => {
    const bench = await benchOf((index) =>
      index === 0
        ? refusal(
            'tools.3.custom.input_schema:\n\t\u001b[1;31mJSON schema\u001b[0m is \u009b4m"invalid"\u202e.\u001b]0;title\u0007',
          )
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
    expect(ALL_QUOTES.length).toBeGreaterThanOrEqual(40);
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

  it("[CLI-37] comes without a code that is or holds a secret", async () => {
    const codes = ["gsk_ab12cd34ef56", "swordfish", `ECONNRESET ${OWN_KEY}`, OWN_KEY.toLowerCase()];
    const bench = await benchOf(
      (index) => {
        const code = codes[index >> 1];
        const error = { message: "no", code };
        return index % 2 === 0
          ? { status: 400, body: { error } }
          : chatAnswer({ text: "half" }) + event({ error: { ...error, code: 400, type: code } });
      },
      { GROQ_API_KEY: "swordfish" },
    );
    for (const code of codes.flatMap((each) => [each, each])) {
      const { id } = await bench.store.write(createSession, { repo_path: bench.repo });
      await expect(bench.run({ text: "question", session_id: id }), code).rejects.toThrow(
        'rejected the request (status 400): "no". ',
      );
    }
  });

  it("[CLI-37] hides a key that a command printed for another model of the list, and one that comes in two chunks", async () => {
    const printed = "from-a-command-Kx7Qp2Wz";
    await using quoting = await startRawProvider("chat", () => {
      const [first = "", second = ""] = chunksOf(
        event({ error: { code: 400, message: `no ${printed} ${OWN_KEY}` } }),
      );
      return [chatAnswer({ text: "half" }), first, sleep(20, ""), second];
    });
    const command = [process.execPath, "-e", `console.log(${JSON.stringify(printed)})`];
    const bench = await benchOf(
      () => ({ status: 500, body: {} }),
      {},
      {
        keyed: { base_url: "http://127.0.0.1:1/v1", key_command: command },
        quoting: { base_url: quoting.env["OPENAI_BASE_URL"] },
      },
    );
    const fallback = ["keyed:a", "quoting:b"];
    await bench.store.write(setModelSettings, { id: bench.session.id, settings: { fallback } });
    await expect(bench.run({ text: "question" })).rejects.toThrow('(status 400): "no […]". ');
    expect(JSON.stringify(bench.events)).not.toContain("Kx7Qp2Wz");
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
