import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createConceal } from "../../../src/core/secrets.ts";
import { readRepositoryConfig } from "../../../src/rules/config/repository-text.ts";
import { createSettings } from "../../../src/rules/config/settings.ts";
import { type ModelConfig, modelConfig, withKey } from "../../../src/rules/models/config.ts";
import { listRequest } from "../../../src/rules/models/list-request.ts";
import { PROVIDERS, type ProviderData } from "../../../src/rules/models/providers.ts";
import { secretsOfModels } from "../../../src/rules/models/secrets-of-models.ts";
import { modelSettings } from "../../../src/rules/models/settings.ts";

const KEY = "sk-canary-0123456789abcdefghijklmnopqrstuvwxyz";
const ALL: Readonly<Record<string, ProviderData>> = PROVIDERS;
const EXTRA = Object.entries(ALL).filter(([, { source }]) => source !== null);

/** The models of a user with this config and environment. */
async function modelsOf(
  providers: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): Promise<ModelConfig> {
  const folder = mkdtempSync(join(tmpdir(), "reprise-providers-"));
  const file = join(folder, "config.jsonc");
  writeFileSync(file, JSON.stringify({ providers }));
  writeFileSync(join(folder, "key"), `${KEY}-of-the-file\n`);
  return (await createSettings({ env, file, home: folder }).at(null)).models;
}

/** The address, the key and the headers of a model of this provider. */
async function sent(config: ModelConfig, provider: string): Promise<object> {
  const keyed = await withKey(config, provider);
  const { baseUrl, apiKey, headers, api } = modelSettings({
    name: `${provider}:x`,
    config: keyed,
  });
  return { baseUrl, apiKey, headers, api };
}

describe("the providers that come with Reprise", () => {
  it.each(EXTRA)("[MODEL-10] %s is used with its key alone, or its address", async (name, data) => {
    const variable = data.isKeyless === true ? null : data.keyVariable;
    const [address] = data.address === null ? (data.addressVariables ?? []) : [];
    const env = {
      ...(variable === null ? {} : { [variable]: KEY }),
      ...(address === undefined ? {} : { [address]: "https://mine.example/openai/v1" }),
    };
    expect(await sent(await modelsOf({}, env), name)).toEqual({
      baseUrl: data.address ?? (data.package === undefined ? "https://mine.example/openai/v1" : ""),
      apiKey: variable === null ? "none" : KEY,
      headers: {},
      api: data.api,
    });
  });

  it("name the documentation of each quirk, and are in the guide", () => {
    const guide = readFileSync(new URL("../../../docs/models.md", import.meta.url), "utf8");
    for (const [name, data] of EXTRA) {
      expect(data.source, name).toMatch(/^https:\/\//);
      expect(guide, name).toContain(`| \`${name}\` |`);
    }
    expect(guide).toContain("documented, not run");
  });

  it("[MODEL-10] refuse a model without a key, and an account's address that is not set", () => {
    const config = modelConfig({ AZURE_OPENAI_API_KEY: KEY });
    expect(() => modelSettings({ name: "groq:x", config })).toThrow(/Set GROQ_API_KEY or/);
    expect(() => modelSettings({ name: "azure:x", config })).toThrow(/AZURE_OPENAI_BASE_URL/);
  });
});

describe("[MODEL-11] a key goes to no other host than it was given for", () => {
  const there = "https://there.example/v1";

  it("the environment's is not sent to the address of the config", async () => {
    const env = { GROQ_API_KEY: KEY, OPENAI_API_KEY: KEY };
    const models = await modelsOf({ groq: { base_url: there }, openai: { base_url: there } }, env);
    for (const name of ["groq", "openai"]) {
      expect(await sent(models, name)).toMatchObject({ baseUrl: there, apiKey: "none" });
      const provider = models.providers[name];
      expect(JSON.stringify(provider && listRequest(name, provider))).not.toContain(KEY);
    }
    expect(await sent(models, "openai")).toMatchObject({ api: "chat" });
    const named = await modelsOf({ groq: { base_url: there, key_env: "GROQ_API_KEY" } }, env);
    expect(await sent(named, "groq")).toMatchObject({ baseUrl: there, apiKey: KEY });
  });

  it("the config's is sent to the address beside it, and not to that of the environment", async () => {
    const entry = { base_url: there, key_file: "~/key", headers: { "X-Token": "t" } };
    expect(await sent(await modelsOf({ openai: entry }), "openai")).toEqual({
      baseUrl: there,
      apiKey: `${KEY}-of-the-file`,
      headers: { "X-Token": "t" },
      api: "chat",
    });
    for (const address of [
      "https://other.example",
      "http://there.example/v1",
      "https://there.example:444/v1",
    ]) {
      const other = await modelsOf({ openai: entry }, { OPENAI_BASE_URL: address });
      expect(await sent(other, "openai")).toEqual({
        baseUrl: address,
        apiKey: "none",
        headers: {},
        api: "chat",
      });
    }
    const same = await modelsOf({ openai: entry }, { OPENAI_BASE_URL: `${there}/more` });
    expect(await sent(same, "openai")).toMatchObject({
      baseUrl: `${there}/more`,
      apiKey: `${KEY}-of-the-file`,
      headers: { "X-Token": "t" },
    });
  });

  it("without an address beside it, the config's is used wherever the environment's would be", async () => {
    const entry = { openai: { key_file: "~/key" } };
    const own = { baseUrl: "https://api.openai.com/v1", api: "responses" };
    expect(await sent(await modelsOf(entry), "openai")).toMatchObject(own);
    const models = await modelsOf(entry, { OPENAI_BASE_URL: there });
    expect(await sent(models, "openai")).toMatchObject({ apiKey: `${KEY}-of-the-file` });
    const both = await modelsOf(entry, { OPENAI_API_KEY: KEY });
    expect(await sent(both, "openai")).toMatchObject({ ...own, apiKey: KEY });
  });
});

it("[MODEL-12] a provider of the config has its own name, address and API", async () => {
  const models = await modelsOf(
    { mine: { base_url: "http://127.0.0.1:9/v1", api: "anthropic", key_env: "MINE" } },
    { MINE: KEY },
  );
  expect(await sent(models, "mine")).toEqual({
    baseUrl: "http://127.0.0.1:9/v1",
    apiKey: KEY,
    headers: {},
    api: "anthropic",
  });
});

it("[MODEL-12] the config of a folder names no provider and no facts about models", () => {
  const text = `{"providers": {"openai": {"base_url": "https://evil.example"}}, "models": {}}`;
  const { problems } = readRepositoryConfig(text);
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/no such key/),
    expect.stringMatching(/no such key/),
  ]);
});

it("[PERMISSION-71] the keys of all providers are secret, used or not, and so are headers that hold one", async () => {
  const models = await modelsOf(
    {
      mine: {
        base_url: "https://me:pass-word@h.example/v1",
        key_env: "MINE",
        headers: { Authorization: `Bearer header-${KEY}`, "X-Title": "not a secret" },
      },
      groq: { base_url: "https://h.example/v1" },
      xai: { key_file: "~/key" },
    },
    { MINE: `mine-${KEY}`, GROQ_API_KEY: `groq-${KEY}`, MISTRAL_API_KEY: `mistral-${KEY}` },
  );
  const conceal = createConceal(secretsOfModels(await withKey(models, "xai")));
  const text = `header-${KEY}, mine-${KEY}, groq-${KEY}, mistral-${KEY}, ${KEY}-of-the-file, pass-word, not a secret`;
  expect(conceal(text)).toBe(
    "[providers.mine.headers.Authorization], [MINE], [GROQ_API_KEY], [MISTRAL_API_KEY], [XAI_API_KEY], [providers.mine.base_url], not a secret",
  );
});
