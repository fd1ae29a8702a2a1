import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import type { ExchangeView } from "../../../src/cli/chat/front.ts";
import { hanging } from "../../../src/cli/terminal/text/hanging.ts";
import { noticing } from "../../../src/cli/terminal/questions/noticing.ts";
import { cellText } from "../../../src/cli/terminal/pi/text.ts";
import type { Session } from "../../../src/core/sessions.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { type Step, startScriptedProvider } from "../../helpers/scripted-provider.ts";
import { CTRL_D } from "../../helpers/terminal.ts";

const CTRL_O = "\u000f";

it("[TERM-70] [TERM-71] [TERM-72] uses the theme of the config, names the session in the window's title, and opens tool calls with /show and Ctrl-O", async () => {
  const read = (path: string): Step => ({
    kind: "call",
    name: "read_file",
    args: JSON.stringify({ path }),
    size: 99,
  });
  const provider = await startScriptedProvider("openai", (index) =>
    index % 2 === 0 ? [read(`${index}.txt`)] : [{ kind: "text", text: "It is read." }],
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: "openai:test" });
  const config = join(home.home, ".config/reprise");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "config.jsonc"), '{ "theme": "none" }');
  writeFileSync(join(home.project, "0.txt"), "the first text\n");
  writeFileSync(join(home.project, "2.txt"), "the second text\n");
  const screen = openScreen(home, "reprise", { columns: 60 });
  await screen.until(/\/ commands +@ files[^]*^ask ⇧⇥ · (?=[~/…n])/m);
  // it comes after the first rows
  await screen.until(() => /^reprise · \S+$/.test(screen.title()));
  screen.type("read one\r");
  await screen.until(/It is read\.[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  await screen.until(() => screen.title().startsWith("read one · "));
  screen.type("read two\r");
  await screen.until(/two[^]*It is read\.[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/show 1\r");
  await screen.until(/the first text/);
  expect(screen.isAlternate()).toBe(true);
  screen.type("q");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(CTRL_O);
  await screen.until(/the second text/);
  screen.type("q");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/show 7\r");
  await screen.until(/^There is no call \[7\]\.$/m);
  screen.type("/permission all\r");
  await screen.until(/^mode all · /m);
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
  const written = screen.written().replaceAll("\u001b", "␛");
  // the cursor is the only style
  const styles = [...written.matchAll(/␛\[(\d[\d;]*)m/g)].map(([, style]) => style);
  expect(styles.filter((style) => style !== "7" && style !== "27")).toEqual([]);
  // as it was found: no reports of the focus, and the title from before
  expect(written).toMatch(/␛\[22;2t␛\[\?1004h[^]*␛\[\?1004l␛\[23;2t/);
});

it("[TERM-47] [TERM-70] reports the end of an exchange, but not one that the person made", async () => {
  const seen: string[] = [];
  const nothing = () => undefined;
  const view: ExchangeView = {
    show: nothing,
    output: null,
    hasChangedFiles: () => false,
    showChanges: nothing,
    finish: async () => undefined,
    fail: async () => undefined,
  };
  const { finish, fail } = noticing(view, (what) => void seen.push(what));
  const result = { answer: "", session: {} as Session, thread_id: "", model: "", messages: [] };
  await finish({ ...result, state: "stopped" });
  await finish({ ...result, state: "waiting" });
  expect(seen).toEqual([]);
  await finish({ ...result, state: "done" });
  await fail();
  expect(seen).toEqual(["The exchange is done", "The exchange failed"]);
});

it("[TERM-73] keeps the second column of printed rows apart in a narrow terminal", () => {
  const row = "  /plan on|off              planning mode: read and plan, change nothing";
  expect(hanging(row, 80, cellText)).toEqual([row]);
  expect(hanging(row, 60, cellText)).toEqual([
    "  /plan on|off              planning mode: read and plan,",
    "                            change nothing",
  ]);
  expect(hanging(row, 40, cellText)).toEqual([
    "  /plan on|off",
    "    planning mode: read and plan, change",
    "    nothing",
  ]);
  expect(hanging("a sentence  of several words", 12, cellText)).toEqual([
    "a sentence",
    "of several",
    "words",
  ]);
});
