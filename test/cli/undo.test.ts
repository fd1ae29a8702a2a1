import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { createSpool } from "../../src/agent/commands/spool.ts";
import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";

/** An agent that reads each file that it is named, if it is there, and writes `second\n` and an escape into each file that it is named. */
async function writing(): Promise<Home & { readonly file: (path: string) => string | null }> {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const paths = (messages[at]?.content ?? "").split(" ");
      const call = (name: string, args: object) => ({ name, arguments: JSON.stringify(args) });
      const answers = messages.slice(at).filter(({ role }) => role === "assistant").length;
      const steps = [
        paths.map((path) => call("read_file", { path })),
        paths.map((path) => call("write_file", { path, content: "second \u001b[31m\n" })),
      ];
      return steps[answers] === undefined ? { content: "done" } : { toolCalls: steps[answers] };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  return {
    ...home,
    file: (path) => {
      const at = join(home.project, path);
      return existsSync(at) ? readFileSync(at, "utf8") : null;
    },
  };
}

it("[UNDO-14] [UNDO-15] [UNDO-16] [UNDO-19] [UNDO-20] [COMMAND-12] [TERM-66] commands show, undo and redo what an exchange changed, and deletion deletes what is kept", async () => {
  const home = await writing();
  const a = join(home.project, "a.txt");
  writeFileSync(a, "first\n");
  expect(await home.call(["--permission", "edits", "-p", "a.txt d/b.txt"])).toMatchObject({
    code: 0,
  });
  const [session] = await sessionsOf(home);
  const id = session?.id ?? "";
  const changes = await home.call(["sessions", "changes", id]);
  expect(changes.stdout).toContain("exchange 1: 3 changes\nchanged a.txt +1 -1\n  --- a.txt\n");
  expect(changes.stdout).toContain("  -first\n  +second ␛[31m\n");
  expect(changes.stdout).toContain("created d/b.txt +1 -0\n");
  expect(await home.json(["sessions", "changes", id, "--json"])).toEqual([
    { n: 1, changes: 3, undone: 0 },
  ]);

  const shown = await home.call(["sessions", "show", id]);
  expect(shown.stdout).toMatch(
    /^· write_file .*a\.txt.*\nchanged a\.txt \+1 -1\n {2}--- a\.txt\n[^]*\n {2}-first$/m,
  );
  const config = join(home.home, ".config/reprise/config.jsonc");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, "{ broken");
  const unread = await Promise.all(
    ["show", "changes"].map((command) => home.call(["sessions", command, id])),
  );
  for (const each of unread) {
    expect(each).toMatchObject({ code: 0 });
    expect(each.stdout).toContain(
      "changed a.txt\n  The diff is left out, because the config cannot be read.\n",
    );
    expect(each.stderr).toMatch(/^note: Diffs are left out, because the config .*config\.jsonc/m);
  }
  rmSync(config);
  const { stdout } = await home.call(["doctor"]);
  expect(stdout).toMatch(
    /^ok +undo +0\.0 MiB of changed files are kept for 1 session, of 2048 MiB/m,
  );

  const dry = await home.call(["sessions", "undo", id, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stdout).toContain("would undo a.txt\n");
  expect(home.file("a.txt")).toContain("second");
  writeFileSync(a, "a person's\n");
  const partly = await home.call(["sessions", "undo", id]);
  expect(partly).toMatchObject({ code: 1 });
  expect(partly.stdout).toMatch(/^refused a\.txt: it was changed since/m);
  expect(partly.stdout).toContain("  +a person's\n");
  expect(partly.stdout).toContain("undone d/b.txt\n");
  expect([home.file("a.txt"), home.file("d/b.txt")]).toEqual(["a person's\n", null]);
  const redo = ["sessions", "redo", id, "--files", "d/b.txt", "--json"];
  expect(await home.call(redo)).toMatchObject({ code: 0 });
  expect(home.file("d/b.txt")).toContain("second");

  const { stderr } = await home.call(["--session", id], {
    input: "/undo\n/redo 1\n/undo 7\n",
  });
  expect(stderr).toMatch(/^undone d\/b\.txt$/m);
  expect(stderr).toMatch(/^redone d\/b\.txt$/m);
  expect(stderr).toContain("Exchange 7 changed no files");

  const kept = join(home.home, ".local/state/reprise/undo", id);
  expect(existsSync(kept)).toBe(true);
  await home.call(["sessions", "end", id]);
  expect(await home.call(["sessions", "undo", id, "--files", "d/b.txt"])).toMatchObject({
    code: 0,
  });
  expect(home.file("d/b.txt")).toBeNull();
  const outputs = join(home.home, ".local/state/reprise/commands");
  await createSpool(outputs, id).create();
  expect(await home.call(["sessions", "delete", id, "--yes"])).toMatchObject({ code: 0 });
  expect(existsSync(kept)).toBe(false);
  expect(readdirSync(outputs)).toEqual([]);
});

it("[UNDO-19] a terminal shows what an exchange changed without a question", async () => {
  const home = await writing();
  writeFileSync(join(home.project, "a.txt"), "first\n");
  const terminal = openTerminal(home, "reprise --permission edits");
  await terminal.shows(/> $/);
  terminal.type("a.txt\r");
  await terminal.shows(/done[^]*changed a\.txt \+1 -1[^]*-first[^]*\+second ␛\[31m[^]*> $/);
  terminal.type("/undo\r");
  await terminal.shows(/undone a\.txt[^]*> $/);
  expect(home.file("a.txt")).toBe("first\n");
  terminal.type(CTRL_D);
  expect((await terminal.finished).code).toBe(0);
});
