import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";
import { CTRL_D } from "../helpers/terminal.ts";

/** Before each piece of the answer: in all, longer than an exchange takes that a person waits for. */
const LATENCY_MS = 11_000;

it("[TERM-47] a terminal without the focus is notified when a long exchange is done, and not of a short one", async () => {
  const server = await startModelServer({
    latencyMs: LATENCY_MS,
    chunkSize: 4,
    answer: () => ({ content: "It is done." }),
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const config = join(home.home, ".config/reprise");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "config.jsonc"), '{ "notifications": "system" }');
  const screen = openScreen(home, "reprise", { env: { TERM_PROGRAM: "ghostty" } });
  const notified = (): string[] =>
    // oxlint-disable-next-line no-control-regex -- a notification of the desktop
    [...screen.written().matchAll(/\u001b\]9;([^\u0007]*)\u0007/g)].map(([, text = ""]) => text);
  await screen.until(/^\/ commands [^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("!true\r");
  await screen.until(/exit code 0[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("a long one\r");
  await screen.until(/^It is done\.$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  await screen.until(() => notified().length === 1);
  expect(notified()[0]).toMatch(/^Reprise: The exchange is done: a long one · /);
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
});
