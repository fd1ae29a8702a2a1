import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { freshHome } from "../helpers/reprise.ts";

/** A provider that answers with this list; it counts the questions. */
async function startList(body: () => string | Buffer, status = 200) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url ?? ""} ${request.headers.authorization ?? ""}`);
    response.writeHead(status, { "content-type": "application/json" }).end(body());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

const LIST = JSON.stringify({
  data: [
    { id: "text-embedding-9" },
    { id: "gpt-5-mini", shutdown_date: "2026-12-11" },
    { id: "gpt-6.1-sol" },
    { id: "own-model", context_length: 65_536 },
  ],
});

function homeFor(url: string, env: Readonly<Record<string, string>> = {}) {
  return freshHome({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-canary-key-0123456789", ...env });
}

it("[CLI-330] models lists what the provider offers, with what is known of it", async () => {
  const { url, seen } = await startList(() => LIST);
  const home = homeFor(url, { REPRISE_MODEL: "openai:gpt-6.1-sol" });
  const { code, stdout, stderr } = await home.call(["models"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n").map((line) => line.replaceAll(/ {2,}/g, " | "))).toEqual([
    "openai:gpt-5-mini | 400,000 tokens | $0.25 in, $2.00 out | ends 11 Dec 2026",
    "openai:gpt-6.1-sol | 272,000 tokens | $2.00 in, $10.00 out | the default",
    "openai:own-model | 65,536 tokens | unknown price",
    "openai:text-embedding-9 | 128,000 tokens, assumed | unknown price",
    "",
  ]);
  expect(seen).toEqual(["/v1/models Bearer sk-canary-key-0123456789"]);
});

it("[CLI-330] --json has the same in full, and --provider takes one", async () => {
  const { url } = await startList(() => LIST);
  const home = homeFor(url);
  const { stdout } = await home.call(["models", "--provider", "openai", "--json"]);
  expect(JSON.parse(stdout)).toContainEqual({
    name: "openai:gpt-5-mini",
    provider: "openai",
    is_default: false,
    is_usable: true,
    context_tokens: 400_000,
    output_tokens: 128_000,
    is_assumed: false,
    images: true,
    reasoning: true,
    input_price: 250_000,
    output_price: 2_000_000,
    ends: "2026-12-11",
  });
  const table = await home.call(["models", "--provider", "mistral"]);
  expect(table.stdout).toMatch(/^mistral:codestral-2508 .*no images/m);
  expect(table.stderr).toContain("Mistral has no key");
  expect(await home.call(["models", "--provider", "nobody"])).toMatchObject({ code: 2 });
});

it("[CLI-331] a list is kept for an hour, and asked for again with --refresh or at another address", async () => {
  const { url, seen } = await startList(() => LIST);
  const home = homeFor(`${url}?key=secret-in-the-address`);
  for (const args of [["models"], ["models"], ["models", "--json"]]) {
    expect((await home.call(args)).stdout).toContain("openai:own-model");
  }
  expect(seen).toHaveLength(1);
  await home.call(["models", "--refresh"]);
  expect(seen).toHaveLength(2);
  const file = join(home.home, ".local/state/reprise/models.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toMatch(/secret-in|sk-canary/);
  const other = await startList(() => LIST);
  await home.call(["models"], { env: { OPENAI_BASE_URL: other.url } });
  expect(other.seen).toHaveLength(1);
  for (const text of ["{", "[]", '{"openai": {"address": 1}}', '{"openai": []}']) {
    writeFileSync(file, text);
    expect((await home.call(["models"])).code).toBe(0);
  }
});

it("[CLI-332] the list of a hostile server is bounded and holds nothing that a terminal obeys", async () => {
  const entries = Array.from({ length: 5000 }, (_, at) => ({ id: `model-${at}` }));
  const hostile = [
    { id: "a\u001b[31mb" },
    { id: "a\nb" },
    { id: "x".repeat(5000) },
    { id: 7 },
    null,
    { id: "__proto__", context_length: -1 },
    { id: "big", context_length: 1e300, shutdown_date: "soon" },
  ];
  const many = await startList(() => JSON.stringify({ data: [...hostile, ...entries] }));
  const { stdout } = await homeFor(many.url).call(["models", "--provider", "openai", "--json"]);
  const models: readonly { name: string; ends: string | null }[] = JSON.parse(stdout);
  expect(models).toHaveLength(1000);
  expect(models.every(({ name }) => /^openai:[\x21-\x7e]{1,200}$/.test(name))).toBe(true);
  expect(models.filter(({ ends }) => ends !== null)).toEqual([]);
  for (const [body, why] of [
    [`{"data": "${"x".repeat(8_000_000)}"}`, "too large"],
    ["<html>", "sent no list"],
    ['{"data": {}}', "sent no list"],
    ["[".repeat(100_000), "sent no list"],
  ] as const) {
    const { url } = await startList(() => body);
    const { code, stdout, stderr } = await homeFor(url).call(["models", "--provider", "openai"]);
    expect({ code, isTable: stdout.includes("openai:gpt-6.1-sol") }).toEqual({
      code: 0,
      isTable: true,
    });
    expect(stderr).toContain(why);
  }
  const refused = await startList(() => "sk-canary", 401);
  expect((await homeFor(refused.url).call(["models"])).stderr).toContain("answered 401");
});

it("[CLI-331] nothing but this command asks a provider for its list", async () => {
  const { url, seen } = await startList(() => LIST);
  const home = homeFor(url, { REPRISE_MODEL: "demo" });
  await home.call(["doctor"]);
  await home.call(["-p", "hello"]);
  await home.call(["config", "get"]);
  expect(seen).toEqual([]);
});
