import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sandboxHome } from "./run-confined.ts";

/** What a program gets that reads a hidden file: none, or an empty one. */
const UNSEEN = /^(?:ENOENT|)$/;
const CANARY = "sk-CANARY-0123456789";

const sandbox = await sandboxHome();
afterAll(() => sandbox[Symbol.dispose]());

/** What one command in the sandbox tries, each with what came of it. */
describe.skipIf(sandbox.reason !== null)(`a command in the sandbox`, () => {
  const { home, folder, state, run } = sandbox;
  const servers: Server[] = [];
  const credentials = [".ssh/id_ed25519", ".aws/credentials", ".npmrc", ".config/gh/hosts.yml"];
  const hidden = [
    ...credentials,
    ".claude/settings.json",
    ".mozilla/profile/cookies",
    ".gnupg/key",
  ];
  const own = [
    "state/token",
    "config/config.jsonc",
    "project/reprise.db",
    "project/reprise.db-wal",
  ];
  const sockets = ["/run", "/tmp", "/var/tmp", home, folder].map((at) =>
    join(at, `reprise-test-${process.pid}.sock`),
  );
  const reachable: string[] = [];
  let port = 0;
  let results: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    for (const path of [...hidden, ...own]) {
      mkdirSync(join(home, path, ".."), { recursive: true });
      writeFileSync(join(home, path), CANARY);
    }
    mkdirSync(join(home, "elsewhere"));
    writeFileSync(join(home, "elsewhere/private"), CANARY);
    execFileSync("git", ["init", "-q", folder]);
    writeFileSync(join(folder, "AGENTS.md"), "before");
    for (const path of [...sockets, `\0reprise-test-${process.pid}`]) {
      const server = createServer((socket) => socket.end("host"));
      const { promise, resolve } = Promise.withResolvers<boolean>();
      server.on("error", () => resolve(false)).listen(path, () => resolve(true));
      if (await promise) {
        reachable.push(path);
        servers.push(server);
      }
    }
    const service = createServer((socket) => socket.end("host")).listen(0, "127.0.0.1");
    await new Promise((resolve) => service.on("listening", resolve));
    servers.push(service);
    ({ port } = service.address() as AddressInfo);
    const inHome = [...hidden, ...own, "elsewhere/private"].map((path) => join(home, path));
    const reads = [...inHome, "/etc/passwd"];
    const writes = [
      "/etc/reprise-test",
      join(home, "elsewhere/new"),
      "inside",
      "AGENTS.md",
      ".git/config",
      ".git/commondir",
      ".git/hooks/pre-commit",
      ".git/index.lock",
    ];
    const places = [...reachable, { port, host: "127.0.0.1" }, { port: 53, host: "192.0.2.1" }];
    const { output, notes } = await run(
      `${quoted(process.execPath)} -e ${quoted(ATTEMPTS)} ${[reads, writes, places].map((list) => quoted(JSON.stringify(list))).join(" ")}`,
      {
        env: {
          GIVEN: "given",
          LD_PRELOAD: join(folder, "evil.so"),
          BASH_ENV: join(folder, "evil"),
        },
        protectedPaths: ["state", "config", "project/reprise.db"].map((path) => join(home, path)),
      },
    );
    expect(notes).toEqual([]);
    results = JSON.parse(output);
  });

  afterAll(() => {
    servers.forEach((server) => server.close());
    sockets.forEach((path) => rmSync(path, { force: true }));
  });

  it("[SANDBOX-1] writes in the folder and reads the system", () => {
    expect(results).toMatchObject({ "write inside": "done" });
    expect(results["read /etc/passwd"]).toContain("root:");
    expect(readFileSync(join(folder, "inside"), "utf8")).toBe("x");
  });

  it("[SANDBOX-2] writes nothing outside the folder, also as the administrator", () => {
    for (const path of ["/etc/reprise-test", join(home, "elsewhere/new")]) {
      expect(results[`write ${path}`]).toMatch(/^E/);
      expect(existsSync(path)).toBe(false);
    }
    expect(results["change a setting of the kernel"]).toBe("EROFS");
  });

  it.each([...hidden, "elsewhere/private"])("[SANDBOX-3] does not see ~/%s", (path) => {
    expect(results[`read ${join(home, path)}`]).toMatch(UNSEEN);
  });

  it.each(own)("[SANDBOX-4] does not see Reprise's own %s", (path) => {
    expect(results[`read ${join(home, path)}`]).toMatch(UNSEEN);
  });

  it("[SANDBOX-5] reaches no Unix socket of the machine, whatever folder it is in", () => {
    expect(reachable).toContain(sockets.at(-1));
    expect(reachable.at(-1)).toMatch(/^\0/);
    for (const path of reachable) {
      expect(results[`connect ${path}`], path).toMatch(/^E/);
    }
  });

  it("[SANDBOX-6] has no network, and reaches no service of this machine", () => {
    expect(results[`connect ${port}`]).toMatch(/^E/);
    expect(results["connect 53"]).toMatch(/^E/);
  });

  it("[SANDBOX-7] changes no file that other programs execute or obey, and nothing in git's folder", () => {
    for (const path of ["AGENTS.md", ".git/config", ".git/commondir", ".git/hooks/pre-commit"]) {
      expect(results[`write ${path}`], path).toMatch(/^E/);
    }
    expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe("before");
  });

  it("[SANDBOX-8] sees only its processes, no capabilities, and only the environment that it was given", () => {
    expect(Number(results["processes"])).toBeLessThan(6);
    expect(results["capabilities"]).toBe("0000000000000000");
    const given = [
      "GIVEN",
      "HOME",
      "PATH",
      "PWD",
      "SANDBOX_TEST",
      "SHLVL",
      "TMPDIR",
      "XDG_CACHE_HOME",
      "_",
    ];
    const names = (results["environment"] ?? "").split(" ");
    expect(names.filter((name) => !given.includes(name))).toEqual([]);
    expect(names).toContain("GIVEN");
    expect(results["first process"]).not.toContain("NODE_OPTIONS");
    expect(results["open files"]).toBe("");
  });

  it("[SANDBOX-6] reaches the services of this machine if it is given the network", async () => {
    const script = `require("net").connect(${port}, "127.0.0.1").on("data", (text) => console.log(String(text)))`;
    const { output } = await run(`${quoted(process.execPath)} -e ${quoted(script)}`, {
      network: true,
    });
    expect(output).toBe("host\n");
  });

  it("[SANDBOX-9] cannot make git run a program of its choice later", async () => {
    const program = join(folder, "program");
    writeFileSync(program, `#!/bin/sh\ntouch ${join(home, "EXECUTED")}\n`, { mode: 0o755 });
    await run(
      `git config core.fsmonitor ${program}; git config --file .git/config core.fsmonitor ${program}
      mkdir evil; git init -q evil; git -C evil config core.fsmonitor ${program}; echo ../evil/.git > .git/commondir
      mkdir bare; git init -q --bare bare; git -C bare config core.fsmonitor ${program}; git -C bare config core.bare false; git -C bare config core.worktree ..
      mv .git old; mkdir .git; echo 'gitdir: evil/.git' > .git`,
    );
    for (const at of [folder, join(folder, "evil"), join(folder, "bare")]) {
      try {
        execFileSync("git", ["status"], { cwd: at, stdio: "ignore" });
      } catch {
        // in `bare` there may be no repository any more
      }
    }
    expect(existsSync(join(home, "EXECUTED"))).toBe(false);
    expect(existsSync(join(folder, "evil/.git"))).toBe(false);
    expect(existsSync(join(folder, ".git/config"))).toBe(true);
  });

  it("[SANDBOX-10] moves new files that direct other programs out of the folder, and names them", async () => {
    const { notes } = await run(
      `mkdir -p sub/.github/workflows sub/.Claude real deep/er; echo x > real/kept; echo x > sub/.github/workflows/ci.yml
      echo x > deep/er/.envrc; ln -s ../real sub/.vscode; ln -s real .github; echo x > .gitattributes; echo x > CLAUDE.md`,
    );
    const paths = ["sub/.github/workflows", "sub/.Claude", "sub/.vscode", "deep/er/.envrc"];
    for (const path of [...paths, ".github", ".gitattributes", "CLAUDE.md"]) {
      expect(existsSync(join(folder, path)), path).toBe(false);
      expect(notes[0], path).toContain(`${path} (`);
    }
    const [note = ""] = notes;
    const [rest = ""] = /\/\S*moved\/\S+(?=\.)/.exec(note.split(state).at(1) ?? "") ?? [];
    const moved = `${state}${rest}`;
    expect(rest).not.toBe("");
    expect(existsSync(moved)).toBe(true);
    expect(existsSync(join(folder, "real/kept"))).toBe(true);
  });

  it("[SANDBOX-10] does so if a folder with such a file is renamed and made again", async () => {
    mkdirSync(join(folder, "package"));
    writeFileSync(join(folder, "package/.npmrc"), "before");
    const { notes } = await run("mv package old; mkdir package; echo evil > package/.npmrc");
    expect(existsSync(join(folder, "package/.npmrc"))).toBe(false);
    expect(notes.join()).toContain("package/.npmrc");
    expect(readFileSync(join(folder, "old/.npmrc"), "utf8")).toBe("before");
    expect(notes.join()).toContain("old/.npmrc");
  });

  it.each([
    ["core.hooksPath", "../hooks", "tools/hooks/notes.txt"],
    ["include.path", "../../conf/git.conf", "tools/conf/git.conf"],
  ])(
    "[SANDBOX-10] moves nothing of the user's because a repository with %s gets another name",
    async (key, value, users) => {
      const at = join(folder, key);
      execFileSync("git", ["init", "-q", join(at, "x/r")]);
      execFileSync("git", ["-C", join(at, "x/r"), "config", key, value]);
      mkdirSync(join(at, users, ".."), { recursive: true });
      writeFileSync(join(at, users), "mine");
      const { notes } = await run(
        `cd ${key}; mv x/r tools/r; mv x tools/x; mv x y; echo new >${users}`,
      );
      expect(notes.join()).not.toContain(users.slice(0, "tools/hooks".length));
      expect(readFileSync(join(at, users), "utf8")).toBe("new\n");
      expect(existsSync(join(at, "x/r/.git"))).toBe(true);
      // what is below it can be renamed as ever
      expect((await run(`cd ${key}/x/r && mkdir a && mv a b`)).code).toBe(0);
    },
  );

  it("[SANDBOX-10] moves nothing of the user's because a folder gets another name whose .git names a relative folder", async () => {
    const at = join(folder, "relative");
    mkdirSync(join(at, "in/deep/work"), { recursive: true });
    execFileSync("git", ["init", "-q", "--separate-git-dir", "../../store"], {
      cwd: join(at, "in/deep/work"),
    });
    writeFileSync(join(at, "in/deep/work/.git"), "gitdir: ../../store\n");
    mkdirSync(join(at, "store"));
    writeFileSync(join(at, "store/notes.txt"), "mine");
    const { notes } = await run(
      "cd relative; mkdir new; mv in/deep/work new/work; mv in/deep deep",
    );
    expect(readFileSync(join(at, "store/notes.txt"), "utf8")).toBe("mine");
    expect(notes.join()).not.toContain("relative/store");
    expect(existsSync(join(at, "in/deep/work/.git"))).toBe(true);
    expect((await run("cd relative/in/deep/work && mkdir a && mv a b")).code).toBe(0);
  });

  it("[SANDBOX-10] moves folders out with names that are not text, so that nothing hides in them", async () => {
    const { notes } = await run(
      "d=$(printf 'a\\377'); mkdir $d; git init -q $d; d=$(printf 'a\\376'); mkdir $d",
    );
    expect(readdirSync(folder).filter((name) => name.startsWith("a\uFFFD"))).toEqual([]);
    expect(notes.join()).toContain("not UTF-8");
  });

  it("[SANDBOX-10] moves away what would be believed beside a database in the folder", async () => {
    const database = join(folder, "reprise.db");
    const options = { protectedPaths: [database] };
    const { notes } = await run("echo evil > reprise.db-journal", options);
    expect(existsSync(`${database}-journal`)).toBe(false);
    expect(notes.join()).toContain("reprise.db-journal");
    expect(readFileSync(database, "utf8")).toBe(CANARY);
  });

  it("[SANDBOX-4] renames no folder above a hidden file, so that it stays hidden and in its place", async () => {
    const path = join(folder, "outer/inner/own.db");
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, CANARY);
    const options = { protectedPaths: [path] };
    const evil = "mkdir -p outer/inner; echo evil >outer/inner/own.db";
    await run(`mv outer/inner outer/other; ${evil}; mv outer other; ${evil}`, options);
    expect(readFileSync(path, "utf8")).toBe(CANARY);
    expect((await run("cat outer/inner/own.db */*/own.db", options)).output).toBe("");
    // everything else in these folders can be changed
    expect((await run("echo x >outer/inner/new && rm outer/inner/new", options)).code).toBe(0);
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Runs in the sandbox: tries to read, to write and to connect, and prints what came of each. */
const ATTEMPTS = `
const { readFileSync, readdirSync, readlinkSync, writeFileSync } = require("fs");
const [reads, writes, places] = process.argv.slice(1).map((list) => JSON.parse(list));
const results = {};
const attempt = (name, act) => { try { results[name] = act(); } catch (error) { results[name] = error.code; } };
for (const path of reads) attempt("read " + path, () => readFileSync(path, "utf8"));
for (const path of writes) attempt("write " + path, () => (writeFileSync(path, "x"), "done"));
// with its own value, so that nothing is changed if it can be written
attempt("change a setting of the kernel", () => {
  const setting = "/proc/sys/kernel/core_pattern";
  writeFileSync(setting, readFileSync(setting));
});
results["processes"] = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).length;
results["capabilities"] = /CapEff:\\s+(\\w+)/.exec(readFileSync("/proc/self/status", "utf8"))[1];
results["environment"] = Object.keys(process.env).sort().join(" ");
attempt("first process", () => readFileSync("/proc/1/environ", "utf8"));
results["open files"] = readdirSync("/proc/" + process.ppid + "/fd").filter((fd) => fd > 2).join(" ");
let left = places.length;
for (const place of places) {
  const done = (result) => {
    const name = "connect " + (place.port ?? place);
    if (!(name in results)) { results[name] = result; left -= 1; if (left === 0) { console.log(JSON.stringify(results)); process.exit(); } }
  };
  try {
    const socket = require("net").connect(typeof place === "string" ? { path: place } : place);
    socket.on("data", (text) => done(String(text))).on("error", (error) => done(error.code));
  } catch (error) { done(error.code); }
}
`;
