import { expect, it, onTestFinished } from "vitest";

import { startProvider } from "../helpers/providers/start.ts";
import { text } from "../helpers/providers/steps.ts";
import { freshHome } from "../helpers/reprise.ts";
import { detailOf, idLike, seed } from "../helpers/sessions/seed.ts";

const MODEL = "anthropic:claude-sonnet-5-5";

async function aHome() {
  const provider = await startProvider("anthropic", () => [text("answer")]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: MODEL });
  const efforts = () =>
    provider.requests.map((body) => (body["output_config"] as { effort?: string })?.effort);
  return { home, provider, efforts };
}

it("[CLI-316] /effort and /cache show and set what the next message is sent with", async () => {
  const { home, provider, efforts } = await aHome();
  const { code, stderr } = await home.call([], {
    input:
      "/effort\n/effort low\none\n/effort max\n/cache 1h\ntwo\n/effort default\nthree\n/cache\n",
  });
  expect(code).toBe(0);
  expect(stderr).toContain("effort: default\n");
  expect(stderr).toContain("effort: low.\n");
  expect(stderr).toContain(
    "effort: max. The provider's cache of this conversation begins again.\n",
  );
  expect(stderr).toContain("cache: 1h\n");
  expect(efforts()).toEqual(["low", "max", undefined]);
  expect(provider.requests.map((body) => JSON.stringify(body).includes('"ttl":"1h"'))).toEqual([
    false,
    true,
    true,
  ]);
});

it("[CLI-316] [EFFORT-2] what the model does not take is refused and changes nothing", async () => {
  const { home, provider } = await aHome();
  const typed = await home.call([], { input: "/effort off\n" });
  expect(typed.stderr).toContain("It takes low, medium, high, xhigh, max");
  const unknown = {
    code: 2,
    stderr: expect.stringMatching(/^reprise: Effort is off, .*\[effort_unknown\]$/m),
  };
  expect(await home.call([], { input: "/effort much\n" })).toMatchObject(unknown);
  expect(await home.call(["--effort", "much", "-p", "hi"])).toMatchObject(unknown);
  const id = idLike("abcdef1");
  await seed(home, { id });
  const option = await home.call(["--session", id, "--effort", "off", "-p", "hi"]);
  expect(option).toMatchObject({ code: 2 });
  expect(option.stderr).toContain("[effort_unknown]");
  expect(await detailOf(home, id)).toMatchObject({ effort: null, last_seq: 0 });
  expect(provider.received).toEqual([]);
});

it("[CLI-316] [EFFORT-7] --effort and --cache set those of a session, and sessions show has them", async () => {
  const { home, efforts } = await aHome();
  const id = idLike("abcdef1");
  await home.call(["--session", id, "--effort", "high", "--cache", "off", "-p", "one"]);
  expect(await detailOf(home, id)).toMatchObject({ effort: "high", cache: "off" });
  const shown = await home.call(["sessions", "show", id]);
  expect(shown.stdout).toMatch(/^ {2}effort {4}high$/m);
  expect(shown.stdout).toMatch(/^ {2}cache {5}off$/m);
  const again = await home.call(["--session", id, "--effort", "default", "-p", "two"]);
  expect(again.stderr).toContain("note: The provider's cache of this conversation begins again.\n");
  const same = await home.call(["--session", id, "--effort", "default", "-p", "three"]);
  expect(same.stderr).not.toContain("begins again");
  expect(await detailOf(home, id)).toMatchObject({ effort: null, cache: "off" });
  expect(efforts()).toEqual(["high", undefined, undefined]);
});

it("[CLI-316] [FALLBACK-8] [FALLBACK-9] --fallback and /fallback set the models that answer in the place of another, and the terminal names them", async () => {
  const provider = await startProvider("anthropic", (index) =>
    index === 0 ? [{ kind: "status", status: 404 }] : [text("answer")],
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: MODEL });
  const id = idLike("abcdef1");
  const once = await home.call(["--session", id, "--fallback", "demo,ollama:x", "-p", "hi"]);
  expect(once.code).toBe(0);
  expect(once.stdout).toContain("[demo]");
  expect(once.stderr).toContain("so demo answers until this exchange ends.");
  expect(await detailOf(home, id)).toMatchObject({ fallback: ["demo", "ollama:x"] });
  const shown = await home.call(["sessions", "show", id]);
  expect(shown.stdout).toMatch(/^ {2}fallback {2}demo, ollama:x$/m);
  const typed = await home.call(["--session", id], {
    input: "/fallback\n/fallback none\n/fallback default\n",
  });
  expect(typed.stderr).toContain("fallback: demo, ollama:x\n");
  expect(typed.stderr).toContain("fallback: none\n");
  expect(typed.stderr).toContain("fallback: default\n");
  expect(await home.call(["--fallback", "nonsense", "-p", "hi"])).not.toMatchObject({ code: 0 });
  const twice = await home.call(["--fallback", "demo,ollama:x,demo", "-p", "hi"]);
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("names a model twice")]);
  for (const [names, why] of [
    ['["demo", "demo"]', "This entry is there twice"],
    ['["demo", "demo:a", "demo:b", "demo:c", "demo:d", "demo:e"]', "has 5 entries at most"],
    ['["gpt-6"]', "provider:model"],
  ] as const) {
    const refused = await home.call(["config", "set", "fallback", names]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(why)]);
  }
  expect(await home.call(["config", "set", "fallback", '["demo"]'])).toMatchObject({ code: 0 });
  expect((await home.call(["config", "get", "fallback"])).stdout).toContain("demo");
});

it("[CLI-316] [CONFIG-1] config set and get have effort and cache", async () => {
  const { home } = await aHome();
  expect(await home.call(["config", "set", "effort", "high"])).toMatchObject({ code: 0 });
  expect((await home.call(["config", "get", "effort"])).stdout).toContain("high");
  expect((await home.call(["config", "get", "cache"])).stdout).toContain("5m");
  expect(await home.call(["config", "set", "effort", "much"])).not.toMatchObject({ code: 0 });
});
