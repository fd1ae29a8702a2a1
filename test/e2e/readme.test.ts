import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";

const readme = readFileSync(fileURLToPath(new URL("../../README.md", import.meta.url)), "utf8");

/** The shell lines under a heading. */
function shellUnder(heading: string): string {
  const section = readme.slice(readme.indexOf(`\n## ${heading}\n`));
  return /```sh\n(.*?)```/s.exec(section)?.[1] ?? "";
}

it("[DOC-1] the README's curl lines do what they say, pasted as they are", async () => {
  const home = freshHome();
  const service = home.start(["serve", "--port", "0"]);
  const [, url = ""] = await service.waitFor(/listening on (http:\S+)/);
  const script = shellUnder("Over HTTP").replace("http://127.0.0.1:8787", url);
  expect(script).toContain(url);
  const { code, stdout, stderr } = await startProcess(
    "bash",
    ["--norc", "-euo", "pipefail", "-c", script],
    {
      input: "",
    },
  ).finished;
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toContain('"content":"Hello from curl"');
  expect(stdout).toContain('"state":"ended"');
  expect(stdout).toMatch(/id: 1\nevent: message\n/);
  expect(stdout).not.toContain('"code"');
});

it("[DOC-2] the README's terminal session looks as it is shown", async () => {
  const home = freshHome();
  const shown = [...readme.matchAll(/```console\n(.*?)```/gs)].map(([, text = ""]) => text);
  const begun = await home.run([], {
    input: "My name is Ada and I am moving the billing service to Rust.\n",
  });
  const resumed = await home.run(["--continue"], { input: "What is my name?\n/exit\n" });
  expect(begun.code).toBe(0);
  // the README cuts a long answer with "…"
  const answer = /^(\[demo\] .*?) …$/m.exec(shown[0] ?? "")?.[1] ?? "nothing is shown";
  expect(begun.stdout).toContain(answer);
  expect(begun.stderr).toMatch(/^Resume with: reprise --session [0-9a-f-]{36}$/m);
  const second = /^(\[demo\] .*)$/m.exec(shown[1] ?? "")?.[1] ?? "nothing is shown";
  expect(resumed.stdout).toContain(second);
});

it("[DOC-3] every option and command in the README's table is one that the program has", async () => {
  const home = freshHome();
  const table = readme.slice(readme.indexOf("| command |"), readme.indexOf("\nIn a session"));
  const { stdout: help } = await home.run(["--help"]);
  const { stdout: serve } = await home.run(["serve", "--help"]);
  for (const [option] of table.matchAll(/--[a-z][a-z-]+/g)) {
    expect(help + serve + (await helpOfCommands(home)), option).toContain(option);
  }
});

async function helpOfCommands(home: ReturnType<typeof freshHome>): Promise<string> {
  const { stdout: show } = await home.run(["sessions", "show", "--help"]);
  const { stdout: validate } = await home.run(["schema", "validate", "--help"]);
  return show + validate;
}
