import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { startScriptedProvider } from "../helpers/scripted-provider.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";
import { detailOf, idLike, seed } from "../helpers/sessions/seed.ts";

const ID = idLike("abcdef1");
const KEY = "sk-secret-0123456789";
const REASON =
  'The OpenAI service refused the key (status 401, test_error): "refused". Check that it is right and may use this model.';

it("[CLI-93] [CLI-94] [CLI-95] [CLI-481] a failed exchange is shown as failed, with its reason, and not as interrupted", async () => {
  let refuses = true;
  await using provider = await startScriptedProvider("openai", () =>
    refuses ? [{ kind: "status", status: 401 }] : [{ kind: "text", text: "the answer" }],
  );
  const home = freshHome({ ...provider.env, OPENAI_API_KEY: KEY });
  await seed(home, { id: ID });
  const untouched = Object.keys(await detailOf(home, ID));

  const failed = await home.call(["--session", ID, "-p", "the question"]);
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toBe(
    `reprise: ${REASON} The message is stored; --continue-exchange asks for its answer again. [model_unauthorized]\nResume with: reprise --session ${ID} --continue-exchange\n`,
  );

  const shown = await home.call(["sessions", "show", ID]);
  expect(shown.stdout).toContain(`${ID} (active, failed)`);
  expect(shown.stdout).toContain(`  failure   ${REASON} [model_unauthorized]\n`);
  expect((await home.call(["sessions", "list"])).stdout).toMatch(/^abcdef10 +failed /m);
  const doctor = await home.call(["doctor"]);
  expect(doctor.stdout).toContain(`failed in 1 session (abcdef10: ${REASON} [model_unauthorized])`);
  expect([shown, doctor].map(({ stdout }) => stdout).join()).not.toMatch(/interrupted|cut short/);

  const detail = await detailOf(home, ID);
  expect(detail.activity).toBe("interrupted");
  expect(Object.keys(detail)).toEqual(untouched);

  const terminal = openTerminal(home, `reprise --session ${ID}`);
  await terminal.shows(/note: The last exchange failed: The OpenAI service refused the key [^]*> /);
  refuses = false;
  terminal.type("/continue\r");
  await terminal.shows(/the answer/);
  terminal.type(CTRL_D);
  expect((await terminal.finished).screen).not.toContain("interrupted");
  const after = await home.call(["sessions", "show", ID]);
  expect(after.stdout).toContain(`${ID} (active, idle)`);
  expect(after.stdout).not.toContain("failure");
  expect((await home.call(["doctor"])).stdout).toContain("No exchange was cut short or failed.");
  for (const file of [home.database, `${home.database}-wal`]) {
    expect(contentOf(file)).not.toContain(KEY);
  }
});

it("[CLI-95] /compact that fails offers no retry if nothing waits", async () => {
  await using provider = await startScriptedProvider("openai", (index) =>
    index < 2 ? [{ kind: "text", text: "an answer" }] : [{ kind: "status", status: 401 }],
  );
  const home = freshHome(provider.env);
  const terminal = openTerminal(home, `reprise --session ${ID}`);
  for (const line of ["one", "two"]) {
    await terminal.shows(/> /);
    terminal.type(`${line}\r`);
    await terminal.shows(/an answer/);
  }
  await terminal.shows(/> /);
  terminal.type("/compact\r");
  await terminal.shows(/\[model_unauthorized\][^]*> /);
  terminal.type(CTRL_D);
  expect((await terminal.finished).screen).not.toContain("The message is stored");
});

/** Empty if there is no such file. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
