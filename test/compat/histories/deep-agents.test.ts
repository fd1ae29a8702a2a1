import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { placeHistory } from "../../helpers/foreign-histories.ts";
import { freshHome } from "../../helpers/reprise.ts";

interface Imported {
  readonly sessions: readonly { readonly imported_id: string; readonly messages: number }[];
  readonly problems: readonly { readonly source: string; readonly message: string }[];
}

it("[FOREIGN-40] sub-agents deeper than 3 levels are counted, and each session is reported with its own id", async () => {
  const home = freshHome();
  const file = placeHistory("opencode", home);
  using database = new DatabaseSync(file);
  const first = database.prepare("SELECT id FROM session WHERE parent_id IS NOT NULL").get();
  for (let depth = 2, above = String(first?.["id"]); depth <= 5; depth += 1) {
    const id = `ses_depth${depth}`;
    copyRows(database, "session", `id = '${above}'`, `id = '${id}', parent_id = '${above}'`);
    const renamed = `id = id || '-${depth}', session_id = '${id}'`;
    copyRows(database, "message", `session_id = '${above}'`, renamed);
    const moved = `${renamed}, message_id = message_id || '-${depth}'`;
    copyRows(database, "part", `session_id = '${above}'`, moved);
    above = id;
  }
  const from = ["sessions", "import", "--from", "opencode", file, "--json"];
  const { sessions, problems } = await home.json<Imported>(from);
  expect(sessions.map(({ imported_id }) => imported_id).slice(-2)).toEqual([
    "ses_depth2",
    "ses_depth3",
  ]);
  expect(sessions).toHaveLength(4);
  expect(problems.at(-1)).toEqual({
    source: file,
    line: null,
    message: "has 2 sub-agents deeper than 3 levels: none was imported.",
  });
});

function copyRows(database: DatabaseSync, table: string, where: string, set: string): void {
  database.exec(`CREATE TEMP TABLE copied AS SELECT * FROM ${table} WHERE ${where};
    UPDATE copied SET ${set};
    INSERT INTO ${table} SELECT * FROM copied;
    DROP TABLE copied`);
}
