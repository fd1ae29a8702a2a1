import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";

it("[TERM-80] help prints what --help prints, for commands of every depth", async () => {
  const home = freshHome();
  for (const words of [[], ["sessions"], ["sessions", "list"], ["trust", "add"]]) {
    const asked = await home.call(["help", ...words]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toContain(`Usage: ${["reprise", ...words].join(" ")} `);
    expect(asked).toEqual(await home.call([...words, "--help"]));
  }
});

it.each([
  [["sesions"], "perhaps `reprise sessions` is meant; see `reprise --help`"],
  [["lst"], "perhaps `reprise sessions list` is meant; see `reprise --help`"],
  [["graph"], "perhaps `reprise plan graph` is meant; see `reprise --help`"],
  [["fix the bug"], "There is no such command; see `reprise --help`, and send a message with -p."],
  [["sessions", "lst"], "There is no such command; perhaps list is meant."],
  [["help", "sessions", "lst"], "There is no such command; perhaps list is meant."],
  [["help", "nothing-alike"], "There is no such command; `reprise help` shows all."],
])(
  "[TERM-81] a wrong command is refused with the one that it is most like: %j",
  async (args, says) => {
    const { code, stdout, stderr } = await freshHome().call(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  },
);

it("[TERM-81] a wrong slash command, too", async () => {
  const { code, stderr } = await freshHome().call([], { input: "/modle\n" });
  expect(code).toBe(2);
  expect(stderr).toContain("There is no such command; perhaps /model is meant; /help shows them");
});

it("[CLI-150] [TERM-86] under npm, commands are named as npm finds them in this folder, never as in a registry", async () => {
  const home = freshHome();
  const folder = join(home.project, "node_modules/.bin");
  mkdirSync(folder, { recursive: true });
  const { stdout } = await home.startShell("realpath $(command -v reprise)").finished;
  symlinkSync(stdout.trim(), join(folder, "reprise"));
  const env = { npm_config_user_agent: "npm/11", PATH: `${folder}:/usr/bin:/bin` };
  const here = await home.call(["lst"], { env });
  expect(here.stderr).toContain("perhaps `npx --no -- reprise sessions list` is meant;");
  const talked = await home.call(["-p", "hi", "--model", "demo"], { env });
  expect(talked.stderr).toContain("Resume with: npx --no -- reprise --session ");
  const elsewhere = await home.call(["lst"], { env, cwd: home.home });
  expect(elsewhere.stderr).toContain(`${stdout.trim()} sessions list\` is meant;`);
});

it("[TERM-86] no document and no message names a command that takes the package from a registry", () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const files = ["docs", "src", "bin"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) =>
      join(folder, file),
    ),
  );
  const named = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...files]
    .filter((file) => /\.(?:md|ts|js)$/.test(file))
    .flatMap((file) =>
      [
        ...readFileSync(join(root, file), "utf8").matchAll(
          /\b(?:npx|pnpx|bunx|(?:npm|pnpm|yarn) (?:i|install|add|exec|dlx)\b)(?: -(?!-no)[\w-]+)* (?:--package[ =])?reprise\b(?!-)/g,
        ),
      ].map(([command]) => `${file}: ${command}`),
    );
  // of the checkout, or of a folder in which it is installed
  expect(named.toSorted()).toEqual([
    "CONTRIBUTING.md: npx reprise",
    ...Array.from({ length: 6 }, () => "README.md: npx reprise"),
    "bin/node-version.js: npx reprise",
    "docs/commands.md: npx reprise",
    "docs/operations.md: npx reprise",
    "docs/start.md: npx reprise",
  ]);
});
