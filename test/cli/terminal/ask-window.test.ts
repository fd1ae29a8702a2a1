import { expect, it } from "vitest";

import { startModelServer } from "../../helpers/model-server.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../../helpers/screen.ts";
import { CTRL_D } from "../../helpers/terminal.ts";

/** A model that writes a new file with as many lines as its message says. */
async function openSession(size: { readonly columns: number; readonly rows: number }) {
  const server = await startModelServer({
    answer: (messages) => {
      const { role, content = "" } = messages.at(-1) ?? {};
      const count = role === "user" ? Number(/^write (\d+)$/.exec(content)?.[1] ?? 0) : 0;
      const args = { path: `${count}.txt`, content: "line\n".repeat(count) };
      return count === 0
        ? { content: `over: ${content}` }
        : { toolCalls: [{ name: "write_file", arguments: JSON.stringify(args) }] };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test", NO_COLOR: "1" });
  const screen = openScreen(home, "reprise", size);
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  return screen;
}

/** Whether a yes to the question on the screen is taken at once. */
async function asks(screen: TestScreen): Promise<boolean> {
  return /^ {2}o opens it · /m.test(await screen.until(/^ {2}(?:o opens it|read it first: o) ·/m));
}

async function deny(screen: TestScreen): Promise<void> {
  screen.type("n");
  await screen.until(/^ {2}Deny\. Why/m);
  screen.type("\r");
}

it.each([
  { columns: 80, rows: 24, from: 12 },
  { columns: 40, rows: 20, from: 1 },
])(
  "[TERM-40] a question that can be allowed at once is in the window as a whole, at $columns x $rows",
  async ({ from, ...size }) => {
    const screen = await openSession(size);
    const seen = new Set<boolean>();
    for (let count = from; count < from + 6; count += 1) {
      // with a message that waits above the question, too
      const waits = count % 2 === 0;
      screen.type(`write ${count}\r${waits ? "later\r" : ""}`);
      await (waits ? screen.until(/^ {2}waits: later$/m) : null);
      const isAllowed = await asks(screen);
      seen.add(isAllowed);
      const text = screen.text();
      const lines = text.split("\n").filter((row) => /^\| +\d+ \+ line$/.test(row)).length;
      expect(!isAllowed || (text.includes("── May the agent") && lines === count)).toBe(true);
      await deny(screen);
      await screen.until(
        waits
          ? /^over: later$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m
          : /^over: Error[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
      );
      screen.type("clear the window\r");
      await screen.until(/^over: clear the window$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    }
    expect(seen.size).toBe(2);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
  },
);
