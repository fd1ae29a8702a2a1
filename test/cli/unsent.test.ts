import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import type { Home } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";
import { detailOf, rowsOf } from "../helpers/sessions/seed.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";

const WORDS = "long \u001b[2J and\ncareful";
const CLEANED = "long ␛[2J and\ncareful";

/** A session in whose folder, which is missing, a service was to send these messages. */
async function refusedIn(home: Home, texts: readonly string[]) {
  const folder = join(home.project, "gone");
  const { client, service, ended } = await startNode(home, ["--repos", "/"]);
  const { id } = await client.createSession({ repo_path: folder, model_override: "demo" });
  for (const [index, text] of texts.entries()) {
    await client.queueExchange(id, text);
    expect(await ended(id, index + 1)).toBe("failed");
  }
  return {
    id,
    client,
    restore: async () => {
      await service.stop("SIGTERM");
      mkdirSync(folder);
    },
  };
}

describe("a message that was refused before its exchange began", () => {
  it("[QUEUE-51] [TERM-62] is shown with its code and how to send it again, and is what cannot be continued", async () => {
    const home = homeOfNodes();
    const { id, client, restore } = await refusedIn(home, ["first", WORDS]);
    await expect(client.queueExchange(id, null)).rejects.toMatchObject({
      code: "nothing_to_continue",
      message: expect.stringMatching(/^The message of exchange 2 was refused .*\(folder_missing\)/),
    });
    await restore();
    const shown = await home.call(["sessions", "show", id]);
    expect(shown.stdout).toMatch(
      /\nexchange 1 user {2}\S+Z {2}\(not sent, folder_missing\)\nfirst\n/,
    );
    expect(shown.stdout).toContain(`(not sent, folder_missing)\n${CLEANED}\n`);
    expect(shown.stderr).toMatch(
      new RegExp(`Send one again: reprise send ${id} MESSAGE, or .*--session ${id}, `),
    );
    const onScreen = await home.call(["sessions", "show", id, "--no-pager"], { terminal: true });
    expect(onScreen.stdout).toContain("(not sent, folder_missing)\n  long ␛[2J and\n  careful\n");
    const continued = await home.call(["--session", id, "--continue-exchange"]);
    expect(continued).toMatchObject({ code: 1 });
    expect(continued.stderr).toMatch(
      /The message of exchange 2 was refused .*\[nothing_to_continue\]/,
    );

    expect(await home.call(["--session", id, "-p", "another"])).toMatchObject({ code: 0 });
    expect((await home.call(["sessions", "show", id])).stdout).not.toContain("not sent");
    expect((await home.call(["sessions", "show", id, "--all"])).stdout).toContain(CLEANED);
  });

  it("[TERM-151] is in the editor of a session that is resumed, and is sent with Enter", async () => {
    const home = homeOfNodes();
    const { id, restore } = await refusedIn(home, ["first", WORDS]);
    await restore();
    const screen = openScreen(home, `reprise --session ${id}`);
    await screen.until(
      /^The message of exchange 2 was refused [^]*\[folder_missing\];[^]*prompt\s+again\.$[^]*^> long ␛\[2J and\n {2}careful$/m,
    );
    screen.type("\r");
    await screen.until(/\[demo\][^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    expect(rowsOf(await detailOf(home, id)).slice(0, 1)).toEqual([[1, "user", CLEANED]]);
    const again = openTerminal(home, `exec reprise --session ${id}`);
    await again.shows(/> $/);
    again.type(CTRL_D);
    expect((await again.finished).screen).not.toContain("at the prompt again");
  });

  it("[TERM-151] is at the prompt of plain lines", async () => {
    const home = homeOfNodes();
    const { id, restore } = await refusedIn(home, [WORDS]);
    await restore();
    const terminal = openTerminal(home, `exec reprise --session ${id}`);
    await terminal.shows(/at the prompt again\.\n> long ␛\[2J and\n(?:… )?careful$/);
    terminal.type("\r");
    await terminal.shows(/\[demo\][^]*> $/);
    terminal.type(CTRL_D);
    await terminal.finished;
    expect(rowsOf(await detailOf(home, id)).slice(0, 1)).toEqual([[1, "user", CLEANED]]);
  });
});
