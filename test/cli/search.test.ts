import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

it("[CLI-400] [CLI-402] search finds messages in all sessions, and prints them as lines or JSON", async () => {
  const home = freshHome();
  const [rent, other] = [idLike("aaaaaa1"), idLike("bbbbbb1")];
  await seed(
    home,
    { id: rent, messages: ["First", "The rent \u001b[31mof April"] },
    { id: other, messages: ["Nothing of that kind"] },
  );

  const shown = await home.call(["search", "RENT", "april"]);
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toMatch(
    new RegExp(`^${rent}  First\n  2 user, .*  The rent ␛\\[31mof April\n$`),
  );
  const inTerminal = await home.call(["search", "rent"], { terminal: true });
  expect(inTerminal.stdout).toContain("`reprise sessions show <id> --at <n>`");
  expect(await home.json(["search", "rent", "--json"])).toEqual({
    results: [
      {
        session_id: rent,
        seq: 2,
        role: "user",
        ts: expect.stringMatching(/^\d{4}-/),
        title: "First",
        excerpt: "The rent \u001b[31mof April",
        marks: [[4, 8]],
      },
    ],
    complete: true,
    indexed_until: null,
  });
  const nothing = await home.call(["search", '"april rent"']);
  expect(nothing).toMatchObject({ code: 0, stdout: "", stderr: "Nothing was found.\n" });
  expect((await home.call(["search", '"of April"'])).stdout).toContain(rent);
});

it("[CLI-401] --here, --since, --role and --archived choose what is found", async () => {
  const home = freshHome();
  const id = idLike("cccccc1");
  await seed(home, { id, messages: ["about the harbour"] });
  const found = async (...args: string[]): Promise<unknown> => {
    const page = await home.json<{ results: { seq: number | null }[] }>([
      "search",
      "harbour",
      "--json",
      ...args,
    ]);
    return page.results.map(({ seq }) => seq);
  };
  expect(await found()).toEqual([null, 1]);
  expect(await found("--role", "user")).toEqual([1]);
  expect(await found("--role", "tool")).toEqual([]);
  expect(await found("--since", "2w")).toEqual([null, 1]);
  expect(await found("--here")).toEqual([]);
  await home.call(["sessions", "archive", id]);
  expect(await found()).toEqual([]);
  expect(await found("--archived")).toEqual([null, 1]);
  expect(await home.call(["search", '""'])).toMatchObject({ code: 2 });
  expect(await home.call(["search", "x", "--role", "system"])).toMatchObject({ code: 2 });
});

it("[CLI-403] with search off in the config nothing is searched", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("dddddd1"), messages: ["about the harbour"] });
  await home.call(["config", "set", "search", "off"]);
  const refused = await home.call(["search", "harbour"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("[search_off]") });
  expect(refused.stderr).toContain("reprise config set search on");
  await home.call(["-p", "about the harbour"]);
  using database = new DatabaseSync(home.database, { readOnly: true });
  for (const table of ["search_marks", "search_documents", "search_index"]) {
    expect(database.prepare(`SELECT count(*) AS n FROM ${table}`).get(), table).toEqual({ n: 0 });
  }
  await home.call(["config", "set", "search", "on"]);
  expect((await home.call(["search", "harbour"])).stdout).toContain("harbour");
});

it("[SEARCH-6] [SEARCH-12] what was deleted is gone, and repair has a session indexed again", async () => {
  const home = freshHome();
  const id = idLike("eeeeee1");
  await seed(home, { id, messages: ["about the harbour"] });
  expect((await home.call(["search", "harbour"])).stdout).toContain(id);
  expect(await home.call(["sessions", "repair", id])).toMatchObject({ code: 0 });
  expect((await home.call(["search", "harbour"])).stdout).toContain(id);
  expect(await home.call(["sessions", "delete", id, "--yes"])).toMatchObject({ code: 0 });
  expect((await home.call(["search", "harbour"])).stdout).toBe("");
});

it("[TERM-159] /search lists what is found, and says what to do without a word or with the search off", async () => {
  const home = freshHome();
  const id = idLike("eeeeee1");
  await seed(home, { id, messages: ["First", "about the harbour"] });
  const typed = await home.call([], { input: "/search HARBOUR\n/search nowhere\n/search\n" });
  expect(typed.stderr).toContain(`${id}  First`);
  expect(typed.stderr).toMatch(/ {2}2 user, .* {2}about the harbour/);
  expect(typed.stderr).toContain("Write /search and the words that a message has.");
  expect(typed.stderr).toContain("Nothing was found.");
  expect((await home.call(["config", "set", "search", "off"])).code).toBe(0);
  const off = await home.call([], { input: "/search harbour\n" });
  expect(off.stderr).toContain("reprise config set search on");
  expect(off.stderr).not.toContain(id);
});
