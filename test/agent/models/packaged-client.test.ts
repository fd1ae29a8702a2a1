import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { openModel } from "../../../src/agent/models/open.ts";
import { packagesBeside } from "../../../src/rules/models/optional-package.ts";
import { packagedClient } from "../../../src/agent/models/packaged-client.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { modelSettings } from "../../../src/rules/models/settings.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { callsOf } from "../../helpers/sessions/model-calls.ts";

/** A folder with `node_modules` in which a tester has installed the packages; they are not a part of the checkout. */
const INSTALLED = process.env["REPRISE_TEST_PACKAGES"];

const KEY = "the-key-of-the-test";

describe("[MODEL-14] a model whose package is not installed", () => {
  it.each([
    ["google:gemini-3-pro", "@langchain/google@0.2.6"],
    ["vertex:gemini-3-pro", "@langchain/google@0.2.6"],
    ["bedrock:anthropic.claude-sonnet-5-5", "@langchain/aws@1.4.5"],
  ])("%s is refused with the command that installs it", async (name, wanted) => {
    const env = { GOOGLE_API_KEY: KEY, REPRISE_MODEL: name };
    const config = modelConfig(env);
    await expect(openModel({ name, config })).rejects.toMatchObject({
      code: "package_missing",
      message: expect.stringContaining(`npm install ${wanted} `) as string,
    });
    const bench = await openBench({ env: () => env }, env);
    await expect(bench.run({ text: "hello" })).rejects.toMatchObject({ code: "package_missing" });
    expect(await expectNoDrift(bench.database, bench.session.id)).toEqual([]);
  });
});

type Part = Readonly<Record<string, unknown>>;

/** Counts that Gemini sends with a piece; null for none. */
type Counting = (at: number, isLast: boolean) => object | null;

const lastCounts: Counting = (_, isLast) =>
  isLast ? { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 } : null;

/** Gemini's API: refuses a call without its signature, and sends the parts one by one. */
async function startGemini(
  answers: readonly (readonly Part[])[],
  { pauseMs = 0, counts = lastCounts }: { pauseMs?: number; counts?: Counting } = {},
) {
  const bodies: { readonly contents: readonly { role: string; parts: Part[] }[] }[] = [];
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    void readText(request).then(async (body) => {
      keys.push(request.headers["x-goog-api-key"]);
      const sent = JSON.parse(body) as (typeof bodies)[number];
      const index = bodies.push(sent) - 1;
      const latest = sent.contents.findLastIndex(
        ({ role, parts }) => role === "user" && "text" in (parts[0] ?? {}),
      );
      const isUnsigned = sent.contents.slice(latest).some(({ parts }) => {
        const first = parts.find((part) => "functionCall" in part);
        return first !== undefined && !("thoughtSignature" in first);
      });
      if (isUnsigned) {
        const error = {
          code: 400,
          message: "Function call is missing a thought_signature in functionCall parts.",
        };
        response
          .writeHead(400, { "content-type": "application/json" })
          .end(JSON.stringify({ error }));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      const parts = answers[index] ?? [{ text: "done" }];
      for (const [at, part] of parts.entries()) {
        const isLast = at === parts.length - 1;
        const candidate = {
          content: { role: "model", parts: [part] },
          ...(isLast ? { finishReason: "STOP" } : {}),
        };
        const usageMetadata = counts(at, isLast);
        response.write(
          `data: ${JSON.stringify({ candidates: [candidate], ...(usageMetadata === null ? {} : { usageMetadata }) })}\n\n`,
        );
        await sleep(pauseMs);
      }
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return { url, bodies, keys };
}

describe.skipIf(INSTALLED === undefined)("[MODEL-14] the package of Google", () => {
  const benchWith = async (gemini: Awaited<ReturnType<typeof startGemini>>) => {
    const env = { GOOGLE_API_KEY: KEY, REPRISE_MODEL: "google:gemini-3-pro" };
    const entry = {
      api: null,
      baseUrl: gemini.url,
      key: { variable: "GOOGLE_API_KEY" },
      headers: {},
    };
    const models = { ...modelConfig(env, { google: entry }), retryDelayMs: 1 };
    const load = packagesBeside(join(INSTALLED ?? "/", "package.json"));
    const bench = await openBench({ env: () => env }, env, {
      models,
      openModel: ({ name, config, effort = null }) =>
        packagedClient(
          { ...modelSettings({ name, config }), api: "google", effort, limits: config.idle },
          load,
        ),
    });
    writeFileSync(join(bench.repo, "a.txt"), "text of a.txt");
    return bench;
  };

  it("runs an exchange with calls, thoughts and signatures", async () => {
    const read = { functionCall: { name: "read_file", args: { path: "a.txt" } } };
    const gemini = await startGemini([
      [{ text: "I must read.", thought: true }, { ...read, thoughtSignature: "c2ln" }, read],
      [{ text: "It says " }, { text: "text." }],
    ]);
    const bench = await benchWith(gemini);
    const result = await bench.run({ text: "read it" });
    expect(result.answer).toBe("It says text.");
    expect(gemini.keys).toEqual([KEY, KEY]);
    const thought = bench.events.flatMap((each) => (each.type === "reasoning" ? each.text : []));
    expect(thought.join("")).toBe("I must read.");
    const [, model] = gemini.bodies[1]?.contents ?? [];
    expect(model?.parts.map((part) => part["thoughtSignature"] ?? null)).toEqual(["c2ln", null]);
    expect(bench.events.some(({ type }) => type === "usage")).toBe(true);
    await bench.run({ text: "thanks" });
    expect(gemini.bodies).toHaveLength(3);
  });

  it.each<[string, Counting, readonly [number | null, number | null, number | null]]>([
    [
      "that come with each piece, and grow",
      (at) => ({ promptTokenCount: 10, candidatesTokenCount: 2 + at, thoughtsTokenCount: 4 }),
      [10, 7, 4],
    ],
    ["that are not all sent", () => ({ promptTokenCount: 10 }), [10, null, 0]],
    ["that are not sent", () => null, [null, null, null]],
  ])("[COST-41] stores counts %s", async (_what, counts, [input, output, reasoning]) => {
    const gemini = await startGemini([[{ text: "It " }, { text: "is " }], [{ text: "ok." }]], {
      counts,
    });
    const bench = await benchWith(gemini);
    await bench.run({ text: "hello" });
    expect(await callsOf(bench.store, bench.session.id)).toMatchObject([
      { input, output, reasoning },
    ]);
  });

  it("is stopped while it answers", async () => {
    const gemini = await startGemini([[{ text: "half" }, { text: " never" }]], { pauseMs: 60_000 });
    const bench = await benchWith(gemini);
    const stop = new AbortController();
    const run = bench.run({ text: "hello" }, { signal: stop.signal });
    await expect.poll(() => bench.events.some(({ type }) => type === "text")).toBe(true);
    stop.abort();
    expect(await run).toMatchObject({ state: "stopped" });
  });
});

describe.skipIf(INSTALLED === undefined)("[MODEL-14] the other packages", () => {
  const load = packagesBeside(join(INSTALLED ?? "/", "package.json"));
  const open = (name: "vertex:gemini-3-pro" | "bedrock:amazon.nova-pro-v1:0") => {
    const config = modelConfig({});
    const api = name.startsWith("vertex") ? "google" : "bedrock";
    const settings = modelSettings({ name, config });
    return packagedClient({ ...settings, api, effort: null, limits: config.idle }, load);
  };

  it("are opened without a key and without a request", async () => {
    const vertex = await open("vertex:gemini-3-pro");
    expect(vertex).toMatchObject({ platform: "gcp", endpoint: "aiplatform.googleapis.com" });
  });

  it("say what is missing of an account", async () => {
    expect(process.env["AWS_DEFAULT_REGION"]).toBeUndefined();
    await expect(open("bedrock:amazon.nova-pro-v1:0")).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("AWS_DEFAULT_REGION") as string,
    });
  });
});
