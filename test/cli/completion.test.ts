import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { SCRIPTS, type Shell } from "../../src/cli/commands/completion/scripts.ts";
import { writeEarlierDatabase } from "../helpers/earlier-builds.ts";
import { freshHome, type Home, unusedHome } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

/** What can come after the words, the last of which is being typed. */
async function after(home: Home, ...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await home.call(["complete", "--", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").slice(0, -1);
}

const valuesOf = (lines: readonly string[]): string[] =>
  lines.map((line) => line.slice(0, line.indexOf("\t")));

it("[TERM-82] commands, options and values come from the commands themselves", async () => {
  const home = unusedHome();
  const commands = valuesOf(await after(home, ""));
  expect(commands).toEqual(expect.arrayContaining(["sessions", "send", "doctor", "help"]));
  expect(commands).not.toContain("complete");
  expect(await after(home, "sessions", "unar")).toEqual([
    "unarchive\ttake a session out of the archive",
  ]);
  expect(valuesOf(await after(home, "sessions", "list", "--st"))).toEqual(["--state"]);
  expect(valuesOf(await after(home, "sessions", "list", "--state", ""))).toEqual([
    "active",
    "ended",
  ]);
  expect(valuesOf(await after(home, "--permission", "a"))).toEqual(["ask", "auto", "all"]);
  expect(valuesOf(await after(home, "--persona", "re"))).toEqual(["reviewer"]);
  expect(await after(home, "plan", "validate", "pl")).toEqual([":files"]);
  expect(await after(home, "--prompt", "")).toEqual([]);
  expect(existsSync(home.database)).toBe(false);
});

it("[TERM-180] names of MCP servers are offered, and none is started", async () => {
  const home = unusedHome();
  const folder = join(home.home, ".config/reprise");
  mkdirSync(folder, { recursive: true });
  const touch = { command: "touch", args: [join(home.home, "started")] };
  writeFileSync(
    join(folder, "config.jsonc"),
    JSON.stringify({ mcp: { mine: touch, other: touch } }),
  );
  const theirs = { mcpServers: { theirs: touch, "$(touch made)": touch } };
  writeFileSync(join(home.project, ".mcp.json"), JSON.stringify(theirs));
  expect(await after(home, "mcp", "check", "m")).toEqual(["mine\tconfig"]);
  expect(valuesOf(await after(home, "mcp", "login", ""))).toEqual(["mine", "other"]);
  expect((await home.call(["trust", "add"])).code).toBe(0);
  expect(valuesOf(await after(home, "mcp", "logs", ""))).toEqual(["theirs", "mine", "other"]);
  expect(valuesOf(await after(home, "mcp", "remove", ""))).toEqual(["mine", "other"]);
  expect(await after(home, "mcp", "logout", "")).toEqual([]);
  expect(await after(home, "mcp", "add", "")).toEqual([]);
  expect(existsSync(join(home.home, "started"))).toBe(false);
});

it("[TERM-83] ids of sessions are offered with their titles, and nothing that a shell would execute", async () => {
  const home = freshHome();
  const id = idLike("abcdef1");
  await seed(home, { id, messages: ["$(touch made)\u001b[31m\tred"] });
  const personas = join(home.home, ".config/reprise/personas");
  mkdirSync(personas, { recursive: true });
  writeFileSync(join(personas, "$(touch made).md"), "---\ndescription: bad\n---\nAct.\n");
  for (const words of [
    ["sessions", "show", "abc"],
    ["--session", ""],
    ["stop", "abcdef1"],
  ]) {
    expect(await after(home, ...words)).toEqual([`${id}\t$(touch made)␛[31m red`]);
  }
  expect(valuesOf(await after(home, "--persona", ""))).not.toContain("$(touch made)");
  writeEarlierDatabase("fe83431e", home.database);
  expect(await after(home, "sessions", "show", "abc")).toEqual([]);
});

/** Programs of each shell that do what it does at a Tab, and print what it would insert. */
const TRIES: Readonly<Record<Shell, string>> = {
  bash: `${SCRIPTS.bash}
    for COMP_LINE in "reprise sessions unar" "reprise --model anth"; do
      COMP_POINT=\${#COMP_LINE} COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
      read -ra COMP_WORDS <<< "$COMP_LINE"
      _reprise 2> /dev/null
      printf '%s\\n' "\${COMPREPLY[@]}"
    done`,
  zsh: `compdef() { }; _describe() { print -l -- "\${found[@]%%:*}" }
    ${SCRIPTS.zsh}
    words=(reprise sessions unar) CURRENT=3; _reprise`,
  fish: `${SCRIPTS.fish}
    complete -C "reprise sessions unar" | string split -f1 \\t`,
};

it.each(["bash", "zsh", "fish"] as const)(
  "[TERM-84] %s completes with its script (needs it)",
  (shell) => {
    const home = freshHome();
    const options = { cwd: home.project, env: home.environment(), encoding: "utf8" } as const;
    const { error, status, stdout, stderr } = spawnSync(shell, ["-c", TRIES[shell]], options);
    if (error === undefined) {
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toBe(shell === "bash" ? "unarchive\nanthropic:\n" : "unarchive\n");
    }
  },
);

it("[TERM-82] completion prints the script of a shell", async () => {
  const home = freshHome();
  for (const [shell, script] of Object.entries(SCRIPTS)) {
    expect(await home.call(["completion", shell])).toEqual({ code: 0, stdout: script, stderr: "" });
  }
  expect(await home.call(["completion", "csh"])).toMatchObject({ code: 2, stdout: "" });
});
