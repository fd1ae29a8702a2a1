import { describe, expect, it } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { projectKeyOf } from "../../../src/store/project-key.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../../helpers/screen.ts";
import { expectScreenFile } from "../../helpers/screen-file.ts";
import { idLike, sessionsOf } from "../../helpers/sessions/seed.ts";

const [ESC, CTRL_D, CTRL_Z] = ["\u001b", "\u0004", "\u001a"];
const WORK = [
  "Fix the parser for tables",
  "Why is the start slow?",
  "Write release notes",
  "価格の計算を直す",
  "Review the queue and its tests, then say what is missing",
];

describe("choosing a session on a terminal", () => {
  it("[TERM-50] [TERM-53] resumes one of 200 sessions, at 80x24 and after a resize at 40x15", async () => {
    const home = await homeWith(200);
    const screen = openScreen(home, "echo before; reprise resume", { env: { NO_COLOR: "1" } });
    await screen.until(/1 of 200[^\0]*› Fix the parser for tables 0/);
    expectScreenFile("picker-80x24", trimmed(screen));
    screen.resize(40, 15);
    await screen.until(/^Resume a session[^\0]*\n\^F filter {2}Esc leave$/);
    expectScreenFile("picker-40x15", trimmed(screen));
    screen.type("slow 121");
    await screen.until(/> Why is the start slow\? 121/);
    screen.type("\r");
    await screen.until(/abc00121[^\0]*\n>\n[a-z]+ ⇧⇥/m);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    expect(screen.everything().join("\n")).not.toContain("Resume a session");
  });

  it("[TERM-50] [TERM-55] gives the terminal back for Ctrl-Z and at the end, and prints nothing", async () => {
    const home = await homeWith(3);
    const screen = openScreen(home, null, { env: { NO_COLOR: "1" } });
    await screen.until(/^\$$/m);
    screen.type("reprise sessions resume\r");
    await screen.until(/Esc leave$/);
    screen.type(CTRL_Z);
    await screen.until((shown) => shown.includes("Stopped") && !screen.isAlternate());
    screen.type("stty -a | grep -o -w -e '-icanon' -e icanon\r");
    await screen.until(/^icanon\n\$$/m);
    screen.type("fg\r");
    await screen.until(/^Resume a session/);
    expect(screen.isAlternate()).toBe(true);
    screen.type(`parser${ESC}`);
    await screen.until(/\$ fg\nreprise sessions resume\n\$ ?$/m);
    screen.type("echo code $?\r");
    const shown = await screen.until(/^code 0$/m);
    expect(shown).toMatch(/\$ fg\nreprise sessions resume\n\$ echo code \$\?$/m);
    expect(shown).not.toMatch(/Search|Resume a session/);
    // oxlint-disable-next-line no-control-regex -- these erase the screen, or its history
    expect(screen.written()).not.toMatch(/\u001b\[[23]J/);
  });

  it("[TERM-160] finds a session by what was written in it, and with the search off by titles alone", async () => {
    const home = await homeWith(3);
    const id = idLike("abc00001");
    const content = `${"long before ".repeat(9)}the \u001b[31mharbour master`;
    {
      await using store = await openSqliteStore({ path: home.database });
      await store.write(appendUserMessage, { reference: id, content });
    }
    const screen = openScreen(
      home,
      "reprise resume; reprise config set search off; reprise resume",
      {
        env: { NO_COLOR: "1" },
      },
    );
    await screen.until(/Esc leave$/);
    screen.type("harbour");
    const shown = await screen.until(/In messages\n.*harbour/);
    expect(shown).toMatch(/\n> Why is the start slow… {2}….{0,11}␛\[31mharbour master .*\n/u);
    expect(shown).toMatch(/^reprise sessions show abc00001 --at 2$/m);
    screen.type(ESC);
    await screen.until(/Search: _/);
    screen.type("harbour");
    await screen.until(/No session matches/);
    screen.type(ESC);
    expect(await screen.finished).toBe(0);
  });

  it("[TERM-52] [TERM-55] deletes after a question, and leaves at SIGTERM", async () => {
    const home = await homeWith(3);
    const screen = openScreen(home, "exec reprise resume", { columns: 60, rows: 16 });
    // the first drawing comes before the sessions are read
    await screen.until(/^> Fix the parser for tables 0[^\0]*Esc leave$/m);
    screen.type(CTRL_D);
    await screen.until(/Delete "Fix the parser for tables 0" for good\?\n1 message, /);
    screen.type("y");
    await screen.until(/\nDeleted\.\n/);
    expect((await sessionsOf(home)).map(({ title }) => title)).toEqual([
      "Why is the start slow? 1",
      "Write release notes 2",
    ]);
    screen.kill("SIGTERM");
    expect(await screen.finished).toBe(0);
    expect([screen.isAlternate(), screen.text().trim()]).toEqual([false, ""]);
  });
});

/** Sessions that were used some hours after each other; every third one belongs to the working folder. */
async function homeWith(count: number): Promise<Home> {
  const home = freshHome();
  const here = await projectKeyOf(home.project);
  await using store = await openSqliteStore({ path: home.database });
  await store.write(async (tx) => {
    for (let index = 0; index < count; index++) {
      const id = idLike(`abc${String(index).padStart(5, "0")}`);
      const isHere = index % 3 === 0;
      await createSession(tx, {
        id,
        model: "demo:echo",
        repo_path: isHere ? "/home/ada/shop" : `/srv/projects/service-${index % 7}`,
        project_key: isHere ? here : "0123456789abcdef",
      });
      const content = `${WORK[index % WORK.length] ?? ""} ${index}`;
      await appendUserMessage(tx, { reference: id, content });
      const at = new Date(Date.now() - (index * 5 + 1.5) * 3_600_000).toISOString();
      await tx.db
        .updateTable("sessions")
        .set({ last_message_at: at, total_input_tokens: index * 321 })
        .where("id", "=", id)
        .execute();
    }
  }, null);
  return home;
}

function trimmed(screen: TestScreen): string[] {
  return screen.rows().map((row) => row.trimEnd());
}
