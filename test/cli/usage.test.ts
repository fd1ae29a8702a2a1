import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { thisProcess } from "../../src/store/records/leases/this-process.ts";
import { takeLease } from "../../src/store/records/leases/lease.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { startProcess } from "../helpers/process.ts";
import { freshHome, unusedHome } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

const BIN = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));
const PACKAGE = fileURLToPath(new URL("../../package.json", import.meta.url));

describe("wrong usage", () => {
  it("[CLI-1] [CLI-3] gets one sentence, its code and exit code 2, and never repeats the input", async () => {
    const home = unusedHome();
    const secret = "sk-secret";
    const wrong: [string[], RegExp][] = [
      [[secret], /There is no such command/],
      [["sessions", secret], /There is no such command/],
      [["sessions", "list", secret], /too many arguments/],
      [["sessions", "list", "--state", secret], /--state <state> takes active or ended/],
      [["sessions", "list", "--limit", secret], /--limit takes a whole number from 1, or all/],
      [["sessions", "list", "--limit", "0"], /--limit takes a whole number from 1, or all/],
      [["sessions", "show"], /Missing required argument 'id'/],
      [
        ["sessions", "show", "abcdef", "--before-seq", secret],
        /--before-seq takes a whole number from 1/,
      ],
      [["sessions", "end"], /Missing required argument 'id'/],
      [[`--token=${secret}`], /There is no option --token;/],
      [["--sesion", secret], /perhaps --session is meant/],
      [["--session"], /argument missing/],
      [["--model", " "], /--model needs a value/],
      [["--json", "sessions", "list"], /--json belongs after the command/],
      [["--database", "", "sessions", "list"], /--database needs a file/],
      [["serve", "--port", secret], /--port takes a whole number from 0 to 65535/],
      [["serve", "--port", "65536"], /--port takes a whole number from 0 to 65535/],
      [["serve", "--stream-poll-ms", "1"], /--stream-poll-ms takes a whole number/],
      [["serve", "--unsent-mib", "15"], /--unsent-mib takes a whole number/],
    ];
    for (const [args, sentence] of wrong) {
      const { code, stdout, stderr } = await home.call(args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: "" });
      if (args[0] !== "--json") {
        expect(stderr).toMatch(/^reprise: [^\n]+\. \[invalid_usage\]\n$/);
      }
      expect(stderr).toMatch(sentence);
      expect(stderr).not.toContain(secret);
    }
    expect(existsSync(home.database)).toBe(false);
  });

  it("[CLI-1] is one line of JSON with --json", async () => {
    const home = freshHome();
    for (const args of [
      ["--nonsense", "--json"],
      ["sessions", "list", "extra", "--json"],
    ]) {
      const { code, stdout, stderr } = await home.call(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(JSON.parse(stderr)).toEqual({ code: "invalid_usage", detail: expect.any(String) });
    }
  });
});

it("[CLI-2] the exit code shows the outcome, and standard output holds results only", async () => {
  const home = freshHome();
  const busy = idLike("bbbbbb1");
  await seed(
    home,
    { id: idLike("abcdef1") },
    { id: idLike("abcdef2") },
    { id: idLike("eeeeee1"), ended: true },
    { id: busy, messages: ["one"] },
  );
  await using store = await openSqliteStore({ path: home.database });
  await store.write(takeLease, {
    session_id: busy,
    owner: thisProcess("a test"),
    life_ms: 60_000,
  });
  const commands: [string[], number, string?][] = [
    [["sessions", "show", busy], 0],
    [["--session", busy, "--model", "openai:without-a-key"], 1],
    [["--session"], 2],
    [["--session", "aaaaaa"], 3],
    [["--persona", "nobody", "--session", idLike("aaaaaa1")], 3],
    [["schema", "dev/unknown@1"], 3],
    [["--session", "abcdef"], 4],
    [["--session", "eeeeee"], 5],
    [["--session", busy], 6, "/clear\n"],
  ];
  for (const [args, code, input = ""] of commands) {
    const outcome = await home.call(args, { input });
    expect({ args, code: outcome.code }).toEqual({ args, code });
    expect(outcome.stdout === "").toBe(code !== 0);
    expect(outcome.stderr === "").toBe(code === 0);
  }
});

it("[CLI-4] --help and --version print to standard output", async () => {
  const home = freshHome();
  const [help, ofCommand, version, bare] = await Promise.all([
    home.call(["--help"]),
    home.call(["sessions", "show", "--help"]),
    home.run(["--version"]),
    home.run(["sessions"]),
  ]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  for (const option of ["--session", "--continue", "--persona", "--model", "--repo", "--plan"]) {
    expect(help.stdout).toContain(option);
  }
  expect(ofCommand).toMatchObject({ code: 0, stderr: "" });
  expect(ofCommand.stdout).toContain("--before-seq");
  const { version: expected } = JSON.parse(readFileSync(PACKAGE, "utf8")) as { version: string };
  expect(version).toMatchObject({ code: 0, stdout: `${expected}\n`, stderr: "" });
  // a group without a command says what there is, and fails
  expect(bare).toMatchObject({ code: 2, stdout: "" });
  expect(bare.stderr).toContain("list [options]");
});

describe("an older Node.js", () => {
  const sentence = /^reprise needs Node\.js 24\.15 or newer; this is (\d+\.\d+\.\d+)\. [^\n]+\n$/;

  it("[CLI-5] is refused in one line", async () => {
    // the program reads its version before it loads anything else
    const pretend = (version: string) =>
      startProcess(process.execPath, [
        "--import",
        `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`,
        BIN,
        "--version",
      ]).finished;
    for (const version of ["20.20.2", "24.14.9", "9.0.0"]) {
      const { code, stdout, stderr } = await pretend(version);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(sentence.exec(stderr)?.[1]).toBe(version);
    }
    expect(await pretend("25.0.0")).toMatchObject({ code: 0 });
  });

  const old = oldNode();
  it.skipIf(old === null)(
    "[CLI-5] is refused too if it is really installed (REPRISE_TEST_OLD_NODE, else the machine's own)",
    async () => {
      const { code, stdout, stderr } = await startProcess(old ?? "", [BIN, "sessions", "list"])
        .finished;
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(sentence);
    },
  );
});

/** A Node.js older than 24; null if none is found. */
function oldNode(): string | null {
  const named = process.env["REPRISE_TEST_OLD_NODE"];
  const places = named === undefined ? ["/usr/bin/node", "/usr/local/bin/node"] : [named];
  const isOld = (path: string): boolean => {
    const version = execFileSync(path, ["--version"], { encoding: "utf8" });
    return Number(/^v(\d+)\./.exec(version)?.[1]) < 24;
  };
  return places.find((path) => existsSync(path) && isOld(path)) ?? null;
}
