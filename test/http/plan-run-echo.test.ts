import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it, onTestFinished } from "vitest";

import { createCatalogue } from "../../src/rules/catalogue.ts";
import { createSettings } from "../../src/rules/config/settings.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { createDatabase } from "../helpers/database.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { phase } from "../helpers/plan-bench.ts";
import { startTestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { TRUSTED } from "../helpers/trust.ts";

const TOKEN = "the-token";
/** Turns the writing direction round, and clears a terminal. */
const HOSTILE = "a\u202eb\u001b[2J\u2066c";
const SCHEMA = "common/final-report@1";

async function openService() {
  const settings = createSettings({
    env: { OPENAI_API_KEY: "a-key", REPRISE_MODEL: "openai:gpt-test" },
    file: null,
    home: "/nonexistent",
  });
  const builtinDir = fileURLToPath(new URL("../../personas", import.meta.url));
  const personas = { userDir: null, builtinDir, trust: TRUSTED };
  const store = await openStoreAt((await createDatabase()).location);
  const t = await startTestServer({
    token: TOKEN,
    store,
    catalogue: createCatalogue({ personas, settings, modelLists: null }),
    runStart: {
      store,
      personas,
      settings,
      protectedPaths: [],
      env: {},
      permission: { allow: [], asks: true },
      sandbox: { state: temporaryFolder(), probe: createSandboxProbe() },
    },
  });
  onTestFinished(() => t[Symbol.asyncDispose]());
  return t;
}

const artifact = (path: string, schema = SCHEMA) => ({ expected_artifact: { path, schema } });

it("[PLANRUN-115] repeats no character that turns text round or that a terminal obeys in an error about a run", async () => {
  const t = await openService();
  const repo_path = temporaryFolder();
  mkdirSync(join(repo_path, HOSTILE));
  writeFileSync(join(repo_path, `x${HOSTILE}`), "");
  symlinkSync("/", join(repo_path, `l${HOSTILE}`));
  const plan = (phases: readonly object[], more: object = {}) => {
    const text = JSON.stringify({ runId: crypto.randomUUID(), phaseKey: "p", phases, ...more });
    return { plan: { text } };
  };
  const one = [phase("one")];
  const with_ = (more: object) => plan([{ ...phase("one"), ...more }]);
  const checks = (document: unknown) => ({
    ...plan(one),
    checks: { text: JSON.stringify(document) },
  });
  const requests: Readonly<Record<string, object>> = {
    only: { ...plan(one), only: [HOSTILE] },
    approve: { ...plan(one), approve: [HOSTILE] },
    model: { ...plan(one), model: HOSTILE },
    "model of a provider": { ...plan(one), model: `openai:${HOSTILE}`, price_limits: { tree: 1 } },
    role: with_({ role: HOSTILE }),
    key: with_({ key: HOSTILE }),
    "a member of the plan": plan(one, { [HOSTILE]: 1 }),
    "a member of a phase": with_({ [HOSTILE]: 1 }),
    dependency: with_({ depends_on: [HOSTILE] }),
    schema: with_(artifact("a", HOSTILE)),
    "a folder": with_(artifact(HOSTILE)),
    "a link": with_(artifact(`l${HOSTILE}/x`)),
    outside: with_(artifact(`../${HOSTILE}`)),
    "a control file": with_(artifact(`.git/${HOSTILE}`)),
    "a twin on the disk": with_(artifact(`X${HOSTILE}`)),
    "two spellings": plan([
      { ...phase("one"), ...artifact(`y${HOSTILE}`) },
      { ...phase("two"), ...artifact(`Y${HOSTILE}`) },
    ]),
    "a check": checks({ all: [[HOSTILE]] }),
    "a phase of checks": checks({ phases: { [HOSTILE]: { checks: [["x"]] } } }),
    "a member of checks": checks({ [HOSTILE]: 1 }),
    syntax: { plan: { text: `{"${HOSTILE}` } },
    yaml: { plan: { text: `a: *${HOSTILE}`, syntax: "yaml" } },
    folder: { ...with_(artifact("a")), repo_path: `/${HOSTILE}` },
  };
  const headers = { authorization: `Bearer ${TOKEN}` };
  const leaks: string[] = [];
  for (const [name, body] of Object.entries(requests)) {
    const response = await t.call("POST", "/api/plan-runs", {
      headers,
      body: { repo_path, ...body },
    });
    if (response.status < 400 || /[\u202e\u2066]|\\u001b/.test(response.text)) {
      leaks.push(`${name}: ${response.status} ${response.text}`);
    }
  }
  expect(leaks).toEqual([]);
});
