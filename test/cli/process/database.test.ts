import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { writeEarlierDatabase } from "../../helpers/earlier-builds.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { freshHome, type Home, unusedHome } from "../../helpers/reprise.ts";
import { idLike, seed, sessionsOf } from "../../helpers/sessions/seed.ts";

describe("the location of the database", () => {
  it("[CLI-7] --database comes before REPRISE_DATABASE, then XDG_DATA_HOME, then HOME", async () => {
    const home = unusedHome();
    const xdg = join(home.home, "xdg");
    const env = { XDG_DATA_HOME: xdg, REPRISE_DATABASE: "from-environment.db" };
    const places = [
      [["--database", "from-option.db"], env, join(home.project, "from-option.db")],
      [[], env, join(home.project, "from-environment.db")],
      [[], { XDG_DATA_HOME: xdg }, join(xdg, "reprise/reprise.db")],
      // the XDG specification: a relative path is ignored
      [[], { XDG_DATA_HOME: "relative" }, home.database],
    ] as const;
    for (const [args, variables, file] of places) {
      expect(existsSync(file)).toBe(false);
      const options = { env: variables };
      expect((await home.call(["sessions", "list", ...args], options)).code).toBe(0);
      expect(existsSync(file)).toBe(true);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    const postgres = await home.call(["--database", "postgres://user:secret@127.0.0.1:1/db"]);
    expect(postgres.code).toBe(1);
    expect(postgres.stderr).toMatch(/^reprise: [^\n]+ \[database_unavailable\]\n$/);
    expect(postgres.stderr).not.toContain("secret");
  });

  it("[CLI-7] [CLI-110] an address with a typing error is refused and does not become a file", async () => {
    const home = freshHome();
    for (const address of [
      "postgress://user:secret@127.0.0.1/db",
      "postgres:/user:secret@127.0.0.1/db",
      "Postgresql:user:secret@127.0.0.1/db",
      "file:///srv/reprise.db",
      "'postgres://user:secret@127.0.0.1/db'",
      "url=postgres://user:secret@127.0.0.1/db",
      "./postgres://user:secret@127.0.0.1/db",
    ]) {
      const file = join(home.home, "address");
      writeFileSync(file, address);
      for (const run of [
        home.call(["sessions", "list", "--database", address]),
        home.call(["sessions", "list"], { env: { REPRISE_DATABASE: address } }),
        home.call(["sessions", "list"], { env: { REPRISE_DATABASE_FILE: file } }),
        home.call(["copy", "--to", address, "--from", "from.db"]),
        home.call(["copy", "--to", "to.db", "--from", address]),
      ]) {
        const refused = await run;
        expect(refused).toMatchObject({ code: 2, stdout: "" });
        expect(refused.stderr).toMatch(/^reprise: [^\n]*postgres:\/\/[^\n]* \[config_invalid\]\n$/);
        expect(refused.stderr).not.toContain("secret");
      }
    }
    expect(readdirSync(home.project)).toEqual([]);
  });

  it("[CLI-168] :memory: is refused and does not become a file", async () => {
    const home = freshHome();
    const [name, file] = [" :memory: ", join(home.home, "name")];
    writeFileSync(file, name);
    for (const run of [
      home.call(["-p", "hello", "--database", name]),
      home.call(["sessions", "list"], { env: { REPRISE_DATABASE: name } }),
      home.call(["sessions", "list"], { env: { REPRISE_DATABASE_FILE: file } }),
      home.call(["serve", "--port", "0", "--database", name]),
      home.call(["upgrade", "--database", name]),
      home.call(["backup", "copy.db", "--database", name]),
      home.call(["copy", "--to", name, "--from", "from.db"]),
      home.call(["copy", "--to", "to.db", "--from", name]),
      home.call(["copy", "--to", "to.db", "--from-langgraph", name]),
    ]) {
      const refused = await run;
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toMatch(
        /^reprise: Reprise keeps no database in memory\. [^\n]+ \[config_invalid\]\n$/,
      );
    }
    const { code, stdout } = await home.call(["doctor", "--database", name]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed +config +Reprise keeps no database in memory\./m);
    expect(readdirSync(home.project)).toEqual([]);
  });

  it("[STORE-60] white space around the name of a database is ignored", async () => {
    const home = freshHome();
    const address = " postgres://user:secret@127.0.0.1:1/db\n";
    const file = join(home.home, "address");
    writeFileSync(file, address);
    for (const run of [
      home.call(["sessions", "list", "--database", address]),
      home.call(["sessions", "list"], { env: { REPRISE_DATABASE: address } }),
      home.call(["sessions", "list"], { env: { REPRISE_DATABASE_FILE: file } }),
      home.call(["copy", "--to", address, "--from", "from.db"]),
      home.call(["copy", "--to", "to.db", "--from", address]),
    ]) {
      const { code, stderr } = await run;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^reprise: [^\n]+ \[database_unavailable\]\n$/);
      expect(stderr).not.toContain("secret");
    }
    expect(readdirSync(home.project)).toEqual([]);
    const empty = await home.call(["sessions", "list", "--database", " "]);
    expect(empty).toMatchObject({ code: 2, stdout: "" });
    const spaced = await home.call(["sessions", "list", "--database", " my.db\t"]);
    expect(spaced.code).toBe(0);
    expect(existsSync(join(home.project, "my.db"))).toBe(true);
  });

  it("[CLI-8] without a home everything works with --database, and nothing without it", async () => {
    const home = freshHome();
    const env = { HOME: undefined };
    const refused = await home.call(["sessions", "list"], { env });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/^reprise: [^\n]*HOME[^\n]* \[config_invalid\]\n$/);
    const talked = await home.call(["--database", "here.db", "-p", "hello"], { env });
    expect(talked.code).toBe(0);
    expect(talked.stdout).toMatch(/^\[demo\]/);
  });

  it("[CLI-31] the command to resume names the database, quoted for a shell in any folder", async () => {
    const home = unusedHome();
    mkdirSync(join(home.project, "it's here"));
    const begun = await home.call(["--database", "it's here/my.db", "-p", "My name is Ada"]);
    const [, hint = ""] = /^Resume with: (.*)$/m.exec(begun.stderr) ?? [];
    expect(hint).toMatch(/^reprise --session \S+ --database '\/.+my\.db'$/);
    const resumed = await home.startShell(`${hint} -p 'What is my name?'`, { cwd: "/" }).finished;
    const where = `note: This session works in ${home.project}.\n`;
    expect(resumed).toMatchObject({ code: 0, stderr: `${where}${begun.stderr}` });
    expect(resumed.stdout).toContain("Your name is Ada.");
    expect(existsSync(home.database)).toBe(false);

    const plain = await home.call(["-p", "My name is Bo"]);
    const [, plainHint = ""] = /^Resume with: (.*)$/m.exec(plain.stderr) ?? [];
    expect(plainHint).toMatch(/^reprise --session \S+$/);
    const again = await home.startShell(plainHint, { cwd: "/", input: "What is my name?\n" })
      .finished;
    expect(again.stdout).toContain("Your name is Bo.");
  });

  it.each(["from any folder, with node and the script", "in the same folder, with npx"])(
    "[CLI-150] the command to resume starts the program as it was started: %s",
    async (way) => {
      const home = freshHome();
      const usesNpx = way.includes("npx");
      mkdirSync(join(home.project, "node_modules/.bin"), { recursive: true });
      const found = await home.startShell("realpath $(command -v reprise)").finished;
      const bin = found.stdout.trim();
      symlinkSync(bin, join(home.project, "node_modules/.bin/reprise"));
      // no `reprise` on it
      const env = { PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };
      const start = usesNpx ? "npx reprise" : `node ${bin}`;
      const begun = await home.startShell(`${start} -p 'My name is Ada'`, { env }).finished;
      const [, hint = ""] = /^Resume with: (.*)$/m.exec(begun.stderr) ?? [];
      expect(hint.startsWith(`${start.replace("npx", "npx --no --")} --session `), hint).toBe(true);
      const resumed = await home.startShell(`${hint} -p 'What is my name?'`, {
        env,
        cwd: usesNpx ? home.project : "/",
      }).finished;
      expect(resumed.stdout).toContain("Your name is Ada.");
    },
  );
});

describe("a database that cannot be used", () => {
  const spoiled: [string, string, (home: Home) => void][] = [
    [
      "a newer program's",
      "database_newer",
      ({ database }) => execute(database, "PRAGMA user_version = 999"),
    ],
    [
      "one of a build before the first release",
      "database_too_old",
      ({ database }) => writeEarlierDatabase("160f9548", database),
    ],
    ["a damaged one", "database_corrupt", ({ database }) => truncateSync(database, 5000)],
    [
      "a text",
      "database_corrupt",
      ({ database }) => writeFileSync(database, "these are my notes\n".repeat(500)),
    ],
  ];

  it.each(spoiled)(
    "[CLI-9] is refused in one sentence and left unchanged: %s",
    async (_, code, spoil) => {
      const home = freshHome();
      await seed(home, { id: idLike("abcdef1"), messages: ["one"] });
      spoil(home);
      const before = readFileSync(home.database);
      for (const args of [
        ["sessions", "list"],
        ["-p", "hello"],
        ["upgrade"],
        ["serve", "--port", "0"],
      ]) {
        const refused = await home.call(args);
        expect(refused).toMatchObject({ code: 1, stdout: "" });
        expect(refused.stderr).toMatch(new RegExp(`^reprise: [^\\n]+ \\[${code}\\]\\n$`));
      }
      expect(readFileSync(home.database).equals(before)).toBe(true);
    },
  );

  it("[CLI-9] [CLI-111] is read while another program holds its lock; what cannot be stored is refused", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1"), messages: ["one"] });
    const lock = startProgram("store-lock.ts", [home.database]);
    await lock.waitFor(/locked/);
    expect(await sessionsOf(home)).toMatchObject([{ title: "one" }]);
    const refused = await home.call(["sessions", "end", "abcdef"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^reprise: [^\n]+ \[database_locked\]\n$/);
    await lock.stop();
    expect(await sessionsOf(home)).toMatchObject([{ state: "active" }]);
  });
});

function execute(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}
