import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../../helpers/screen.ts";
import { startScriptedProvider, type Step, text } from "../../helpers/scripted-provider.ts";
import { detailOf, rowsOf, sessionsOf } from "../../helpers/sessions/seed.ts";
import { CTRL_C, CTRL_D } from "../../helpers/terminal.ts";

const ESC = "\u001b";

/** A session of two exchanges, whose next answer is the summary; it does not end if nothing is given. */
async function beforeSummary(
  summary: () => Promise<readonly Step[]> = async () => [text("in "), { kind: "stall" }],
) {
  const provider = await startScriptedProvider("openai", (index) =>
    index === 2 ? summary() : [text(`answer ${index}`)],
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, NO_COLOR: "1" });
  const screen = openScreen(home, "reprise");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  for (const [index, message] of ["one", "two"].entries()) {
    screen.type(`${message}\r`);
    await screen.until(new RegExp(`^answer ${index}$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])`, "m"));
  }
  screen.type("/compact\r");
  await screen.until(/^. \/compact \d+ s · Esc stops\n\n>\n[a-z]+ ⇧⇥ · working · /m);
  return { home, provider, screen };
}

/** Sends messages that wait, stops what runs, and finds them in the editor. */
async function stopWithMessages(screen: TestScreen): Promise<void> {
  screen.type("queued one\rqueued two\r");
  await screen.until(/^ {2}waits: queued one\n {2}waits: queued two$/m);
  screen.type(ESC);
  await screen.until(/^> queued one\n {2}queued two\n[a-z]+ ⇧⇥ · (?=[~/…n])/m);
}

describe("a command that takes long", () => {
  it("[TERM-130] shows that it runs, and Esc stops it and takes back what waits", async () => {
    const { home, provider, screen } = await beforeSummary();
    await stopWithMessages(screen);
    expect(screen.text()).toMatch(/^Stopped; nothing was summarised\.$/m);
    expect(screen.text()).not.toContain("Esc stops");
    screen.type(`${CTRL_C}three\r`);
    await screen.until(/^answer 3$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    expect(provider.requests).toHaveLength(4);
    const [{ id } = { id: "" }] = await sessionsOf(home);
    const messages = rowsOf(await detailOf(home, id)).map(([, , content]) => content);
    expect(messages).toEqual(["one", "answer 0", "two", "answer 1", "three", "answer 3"]);
  });

  it("[TERM-130] that fails gives back what waits, below the reason", async () => {
    const { promise: until, resolve: fail } = Promise.withResolvers<null>();
    const { screen, provider } = await beforeSummary(async () => {
      await until;
      return [{ kind: "status", status: 401 }];
    });
    screen.type("queued one\rqueued two\r");
    await screen.until(/^ {2}waits: queued one\n {2}waits: queued two$/m);
    fail(null);
    await screen.until(
      /\[model_unauthorized\][^]*^> queued one\n {2}queued two\n[a-z]+ ⇧⇥ · (?=[~/…n])/m,
    );
    expect(provider.requests).toHaveLength(3);
    screen.type(`${CTRL_C}${CTRL_D}`);
    expect(await screen.finished).toBe(0);
  });

  it("[TERM-130] may be one of the person's shell, after which what waits is sent", async () => {
    const home = freshHome({ NO_COLOR: "1" });
    writeFileSync(
      join(home.project, "wait.sh"),
      "echo begun $1; until [ -e go ]; do sleep 0.1; done\n",
    );
    const screen = openScreen(home, "reprise");
    await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("!sh wait.sh 1\r");
    await screen.until(
      /^ {2}begun 1$[^]*^. !sh wait\.sh 1 \d+ s · Esc stops$[^]*^[a-z]+ ⇧⇥ · working · /m,
    );
    await stopWithMessages(screen);
    expect(screen.text()).toMatch(/^· SIGINT, /m);
    screen.type(`${CTRL_C}!sh wait.sh 2\r`);
    await screen.until(/^ {2}begun 2$[^]*^. !sh wait\.sh 2 \d+ s · Esc stops$/m);
    expect(await sessionsOf(home)).toEqual([]);
    screen.type("next\r");
    await screen.until(/^ {2}waits: next$/m);
    writeFileSync(join(home.project, "go"), "");
    await screen.until(/^· exit code 0[^]*^> next$[^]*\[demo\][^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
  });
});
