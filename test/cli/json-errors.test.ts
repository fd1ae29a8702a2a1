import { expect, it } from "vitest";

import { freshHome, type Home } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

const WITHOUT_KEY = ["--model", "openai:gpt-5", "--json"];

/** Standard error of a command that fails, parsed as a whole. */
async function errorOf(
  home: Home,
  args: readonly string[],
  options?: Parameters<Home["call"]>[1],
): Promise<unknown> {
  const { code, stderr } = await home.call(args, options);
  expect(code).not.toBe(0);
  expect(stderr.trimEnd()).not.toContain("\n");
  return JSON.parse(stderr);
}

it("[CLI-310] a command that fails with --json writes one JSON document to standard error, with the notes that came before", async () => {
  const home = freshHome();
  const wide = { cwd: home.home };
  const wideNote = `${home.home} is too wide for file tools; the agent has none.`;
  for (const json of ["--json", "--json=events"]) {
    const args = ["-p", "hi", "--model", "openai:gpt-5", json];
    expect(await errorOf(home, args, wide)).toMatchObject({
      code: "model_key_missing",
      notes: [wideNote],
    });
  }
  expect(await errorOf(home, ["-p", "hi", ...WITHOUT_KEY])).not.toHaveProperty("notes");

  await seed(home, { id: idLike("abcdef1"), messages: ["kept"] });
  expect(await errorOf(home, ["sessions", "delete", "abcdef", "--json"])).toMatchObject({
    code: "invalid_usage",
    notes: [expect.stringMatching(/^This deletes for good:\n {2}abcdef1.* kept/)],
  });
  const input = "hello\n/nonsense\nnever sent\n";
  expect(await errorOf(home, ["--json"], { input })).toMatchObject({
    code: "invalid_usage",
    notes: ["The rest of the input was not sent."],
  });

  const done = await home.call(["-p", "hi", "--json"], wide);
  expect(done).toMatchObject({ code: 0, stderr: `note: ${wideNote}\n` });
  // a person reads it while it happens
  const shown = await home.call(["-p", "hi", ...WITHOUT_KEY], { ...wide, terminal: true });
  expect(shown.stdout).toMatch(/^note: .*\r?\n\{"code":"model_key_missing"/);
});

it("[CLI-310] a process does so too, and prints at once what it waits for", async () => {
  const home = freshHome();
  const failed = await home.run(["-p", "hi", ...WITHOUT_KEY], { cwd: home.home });
  expect(JSON.parse(failed.stderr)).toMatchObject({ notes: [expect.stringContaining("too wide")] });
  const done = await home.run(["-p", "hi", "--json"], { cwd: home.home });
  expect(done.stderr).toMatch(/^note: .* too wide .*\n$/);

  await seed(home, { id: idLike("abcdef1"), repo_path: home.project });
  const waiting = home.startShell("exec reprise send abcdef hi --follow --json 2>&1");
  await waiting.waitFor(/No running service answers this session/);
  await waiting.stop();
});
