import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { startModelServer } from "../../helpers/model-server.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { sessionsOf } from "../../helpers/sessions/seed.ts";
import { CTRL_D } from "../../helpers/terminal.ts";

const ESC = "\u001b";

/** A model that writes the files that a message names, one call each. */
async function openHome() {
  const server = await startModelServer({
    answer: (messages) => {
      const { role, content = "" } = messages.at(-1) ?? {};
      const paths = role === "user" ? /^write (.+)$/.exec(content)?.[1]?.split(" ") : undefined;
      return paths === undefined
        ? { content: `over: ${content.split("\n", 1)[0] ?? ""}` }
        : {
            toolCalls: paths.map((path) => ({
              name: "write_file",
              arguments: JSON.stringify({ path, content: `in ${path}\n` }),
            })),
          };
    },
  });
  return freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test", NO_COLOR: "1" });
}

it("[TERM-202] [TERM-203] [TERM-204] [TERM-205] leaves the screen neither for another session, nor to see changes and the context", async () => {
  const home = await openHome();
  const screen = openScreen(home, "reprise --permission edits");
  await screen.until(/^edits ⇧⇥ · (?=[~/…n])/m);
  screen.type("/context\r");
  await screen.until(/^Nothing is known of the context yet/m);
  screen.type("write a.txt b.txt\r");
  await screen.until(/^2 files \+2 -0 · \/undo · \/diff$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("write c.txt\r");
  await screen.until(/^1 file \+1 -0 · \/undo · \/diff$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/diff\r");
  const last = await screen.until(/^created c\.txt {2}\+1 -0\n1 \+ in c\.txt$/m);
  expect(last).not.toContain("a.txt");
  expect(screen.isAlternate()).toBe(true);
  screen.type("q");
  await screen.until(/^> \/diff$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/undo\r");
  await screen.until(/^undone c\.txt$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/diff all\r");
  const all = await screen.until(/^created a\.txt {2}\+1 -0$[^]*^created b\.txt {2}\+1 -0\n/m);
  expect(all).not.toContain("created c.txt");
  screen.type("q");
  await screen.until(/^> \/diff all$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/context\r");
  await screen.until(
    /^Context: about [\d,]+ of 128,000 tokens \(\d+ %\) of openai:test\n {2}instructions and tools +[\d,]+ +\d+ %$[^]*^ {2}results of tools +\d/m,
  );
  screen.type("/rename the shop\r");
  await screen.until(/^The session is named "the shop"\.$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);

  screen.type("/new\r");
  await screen.until(
    / is kept; \/resume ([0-9a-f]{8}) goes back to it\.$[^]*^\/ commands [^]*^ask ⇧⇥ · (?=[~/…n])/m,
  );
  screen.type("hello\r");
  await screen.until(/^over: hello$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  const sessions = await sessionsOf(home);
  expect(sessions).toHaveLength(2);
  screen.type("/resume\r");
  await screen.until(/^Resume a session/m);
  screen.type("shop");
  await screen.until(/^> the shop/m);
  screen.type("\r");
  await screen.until(/^Session [0-9a-f]{8} · \d+ messages · the shop$[^]*^edits ⇧⇥ · (?=[~/…n])/m);
  const named = sessions.find(({ title }) => title !== "hello")?.id ?? "";
  const other = sessions.find(({ title }) => title === "hello")?.id ?? "";
  screen.type(`/resume ${named}\r`);
  await screen.until(/^This session is open here\.$/m);
  // the list does not delete what is open, and Esc leaves it
  screen.type("/resume\r");
  await screen.until(/^Resume a session/m);
  screen.type("shop");
  await screen.until(/^> the shop/m);
  screen.type("\u0004");
  await screen.until(/Delete "the shop" for good\?/);
  screen.type("y");
  await screen.until(/This session is open here\. Leave it first/);
  screen.type(ESC);
  await screen.until(/^> \/resume$[^]*^edits ⇧⇥ · (?=[~/…n])/m);
  expect((await home.call(["sessions", "end", other])).code).toBe(0);
  screen.type(`/resume ${other}\r`);
  await screen.until(/ended[^]*\[session_ended\][^]*^edits ⇧⇥ · (?=[~/…n])/m);
  screen.type("still here\r");
  await screen.until(/^over: still here$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
});

it("[TERM-202] asks whether to trust the folder of another session, and comes back after a no", async () => {
  const home = await openHome();
  const [first, second] = [freshHome({}), home];
  expect((await home.call(["-p", "hello", "--repo", first.project])).code).toBe(0);
  writeFileSync(join(first.project, "AGENTS.md"), "Speak French.\n");
  const [{ id } = { id: "" }] = await sessionsOf(second);
  const screen = openScreen(home, "reprise");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("here\r");
  await screen.until(/^over: here$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(`/resume ${id}\r`);
  const asked = await screen.until(/\/resume \S+ goes back to it\.[^]*or leave \(q\)\? *$/m);
  expect(asked).toContain("AGENTS.md");
  screen.type("q\r");
  await screen.until(
    /goes back to it\.[^]*^Session [0-9a-f]{8} · 2 messages · here$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
  );
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
});

it("[TERM-202] [TERM-203] works in plain lines, by ids", async () => {
  const home = await openHome();
  const screen = openScreen(home, "reprise --plain --permission edits", { columns: 120 });
  await screen.until(/^A new session\.[^]*^>$/m);
  screen.type("write a.txt\r");
  await screen.until(/^over: wrote[^]*^>$|^over: created[^]*^>$/m);
  screen.type("/diff\r");
  await screen.until(/^> \/diff\ncreated a\.txt \+1 -0[^]*^>$/m);
  screen.type("/new\r");
  await screen.until(/^> \/new$[^]*goes back to it\.[^]*^A new session\.[^]*^>$/m);
  screen.type("hello\r");
  await screen.until(/^over: hello$[^]*^>$/m);
  const sessions = await sessionsOf(home);
  const first = sessions.find(({ title }) => title !== "hello")?.id ?? "";
  screen.type("/resume\r");
  await screen.until(/^reprise: Write \/resume and the id of a session/m);
  screen.type(`/resume ${first}\r`);
  await screen.until(/goes back to it\.[^]*^Session [^]*· write a\.txt$[^]*^>$/m);
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
  expect(await sessionsOf(home)).toHaveLength(2);
  const piped = await home.call([], { input: "/new\nhello\n" });
  expect([piped.code, piped.stdout]).toEqual([2, ""]);
  expect(piped.stderr).toContain("/new and /resume need a terminal");
});
