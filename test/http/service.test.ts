import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { newId } from "../../src/core/ids.ts";
import { createCatalogue } from "../../src/rules/catalogue.ts";
import { createSettings } from "../../src/rules/config/settings.ts";
import { announceNode } from "../../src/store/records/exchanges/nodes.ts";
import { execute } from "../helpers/engines.ts";
import { personaFolders } from "../helpers/persona-folders.ts";
import { queue } from "../helpers/queue.ts";
import { startFixedProvider } from "../helpers/provider-server.ts";
import { startTestServer } from "../helpers/server.ts";
import { UNTRUSTED } from "../helpers/trust.ts";

const KEY = "sk-a-secret-key";

async function serve(env: Readonly<Record<string, string>> = {}) {
  const { places } = personaFolders({
    "user/mine.md":
      "---\nname: mine\ndescription: Mine.\nmodel: ollama:llama3\ntools: [read_file]\n---\nHi.",
    "user/broken.md": "---\nname: [\n---\nHi.",
    "builtin/assistant.md": "---\nname: assistant\ndescription: Helps.\n---\nHelp.",
    "repo/.reprise/personas/theirs.md": "---\nname: theirs\nmodel: openai:gpt-5\n---\nHi.",
  });
  const { repoPath, ...personas } = places;
  const settings = createSettings({ env, file: null, home: "/" });
  const trusting = await startTestServer({
    catalogue: createCatalogue({ personas, settings, modelLists: null }),
  });
  const wary = { ...personas, trust: UNTRUSTED };
  return {
    t: trusting,
    client: createClient({ baseUrl: trusting.url }),
    repoPath,
    wary: () =>
      startTestServer({
        catalogue: createCatalogue({ personas: wary, settings, modelLists: null }),
      }),
  };
}

it("[HTTP-189] lists the nodes that are alive, and which sessions they run", async () => {
  const { t, client } = await serve();
  await using _ = t;
  expect(await client.listNodes()).toEqual([]);
  const [one, two, gone] = [newId(), newId(), newId()].sort((a, b) => (a < b ? -1 : 1));
  const announce = (
    id = "",
    agent: string | null,
    folders: { within: string[] } | { trusted: string[] },
  ) => t.store.write(announceNode, { id, agent, folders });
  await announce(one, null, { within: ["/srv/one"] });
  await announce(two, "mine", { trusted: [] });
  await announce(gone, null, { within: [] });
  await execute(
    t.store,
    "UPDATE nodes SET seen_at = ? WHERE id = ?",
    "2020-01-01T00:00:00.000Z",
    gone ?? "",
  );
  const seen_at = expect.stringMatching(/^20\d\d-.*Z$/) as string;
  expect(await client.listNodes()).toEqual([
    { id: one, agent: null, within: ["/srv/one"], trusted: null, seen_at },
    { id: two, agent: "mine", within: null, trusted: [], seen_at },
  ]);
});

it("[HTTP-190] reports what doctor finds in the database, the personas and the models", async () => {
  const { t, client } = await serve({ REPRISE_MODEL: "openai:gpt-5.6-sol", OPENAI_API_KEY: KEY });
  await using _ = t;
  const id = await t.newSession();
  await queue(t.store, id, "hello");
  const { ok, checks } = await client.checkService();
  expect(ok).toBe(true);
  expect(checks).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: "open", status: "ok" }),
      expect.objectContaining({ name: "queue", status: "warning" }),
      expect.objectContaining({ name: "personas", status: "warning" }),
      {
        name: "models",
        status: "ok",
        sentence: "Sessions without a model use openai:gpt-5.6-sol (OPENAI_API_KEY set).",
      },
    ]),
  );
  expect(JSON.stringify(checks)).not.toContain(KEY);
  const { t: keyless } = await serve({ REPRISE_MODEL: "openai:gpt-5" });
  await using __ = keyless;
  expect(await keyless.call("GET", "/api/doctor")).toMatchObject({
    status: 200,
    json: { ok: false },
  });
});

it("[HTTP-191] lists personas, those of a folder only if it is trusted", async () => {
  const { t, client, repoPath, wary } = await serve();
  await using _ = t;
  const names = async (options?: { repo_path: string }) =>
    (await client.listPersonas(options)).map(({ name }) => name);
  expect(await client.listPersonas()).toEqual([
    {
      name: "assistant",
      source: "built-in",
      description: "Helps.",
      model: null,
      tools: null,
      fault: null,
    },
    expect.objectContaining({
      name: "broken",
      source: "user",
      fault: expect.any(String) as string,
    }),
    {
      name: "mine",
      source: "user",
      description: "Mine.",
      model: "ollama:llama3",
      tools: ["read_file"],
      fault: null,
    },
  ]);
  expect(await names({ repo_path: repoPath })).toEqual(["assistant", "broken", "mine", "theirs"]);
  await using other = await wary();
  const query = `?repo_path=${encodeURIComponent(repoPath)}`;
  expect((await other.call<unknown[]>("GET", `/api/personas${query}`)).json).toHaveLength(3);
  for (const wrong of ["?repo_path=here", "?repo_path=", "?repo_path=/a%00", "?folder=/"]) {
    expect((await t.call("GET", `/api/personas${wrong}`)).status, wrong).toBe(422);
  }
});

it("[HTTP-192] [HTTP-193] lists models with their names, and neither keys nor addresses", async () => {
  const { t, client } = await serve({
    ANTHROPIC_API_KEY: KEY,
    OPENAI_BASE_URL: "https://user:pass@secret.example/v1",
  });
  await using _ = t;
  const models = await client.listModels();
  expect(models.slice(0, 3)).toEqual([
    {
      name: "anthropic:claude-sonnet-5-5",
      provider: "anthropic",
      is_default: true,
      is_usable: true,
      context_tokens: 1_000_000,
      output_tokens: 128_000,
      is_assumed: false,
      images: true,
      reasoning: true,
      input_price: 2_000_000,
      output_price: 10_000_000,
      ends: null,
    },
    expect.objectContaining({ name: "ollama:llama3", is_usable: true, context_tokens: 16_384 }),
    expect.objectContaining({ name: "demo:echo", is_default: false, context_tokens: 1_000_000 }),
  ]);
  expect(models.slice(3).every(({ provider }) => provider === "anthropic")).toBe(true);
  expect(models.find(({ name }) => name.endsWith("sonnet-4-5"))?.ends).toBe("2026-11-30");
  expect(JSON.stringify(models)).not.toMatch(/secret\.example|pass/);
  const { client: keyless, t: two } = await serve({ REPRISE_MODEL: "openai:gpt-5" });
  await using __ = two;
  expect((await keyless.listModels())[0]).toMatchObject({
    name: "openai:gpt-5",
    provider: "openai",
    is_default: true,
    is_usable: false,
    context_tokens: 400_000,
  });
  await using bare = await startTestServer();
  expect((await bare.call("GET", "/api/models")).json).toEqual([]);
  expect((await bare.call("GET", "/api/personas?repo_path=/")).json).toEqual([]);
});

it("[HTTP-290] asks the providers for their models when somebody with the token asks for it", async () => {
  await using provider = await startFixedProvider({
    status: 200,
    body: { data: [{ id: "mine" }] },
  });
  const env = { OPENAI_BASE_URL: provider.url, REPRISE_MODEL: "demo" };
  const settings = createSettings({ env, file: null, home: "/" });
  const { repoPath: _, ...personas } = personaFolders({}).places;
  const catalogue = createCatalogue({ personas, settings, modelLists: null });
  await using t = await startTestServer({ catalogue, token: KEY });
  const client = createClient({ baseUrl: t.url, token: KEY });
  await client.listModels();
  expect(provider.requests).toEqual([]);
  const ask = (headers: Readonly<Record<string, string>>) =>
    fetch(`${t.url}/api/models/refresh`, { method: "POST", headers });
  const answer = await ask({ authorization: `Bearer ${KEY}` });
  const models = (await answer.json()) as { name: string }[];
  const names = models.map(({ name }) => name);
  expect(names).toContain("openai:mine");
  expect(names).toContain("demo");
  expect(provider.requests.map(({ path }) => path)).toEqual(["/models"]);
  expect((await ask({})).status).toBe(401);
  expect(provider.requests).toHaveLength(1);
});
