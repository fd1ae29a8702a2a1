import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { PACKAGE_VERSIONS } from "../../src/rules/models/optional-package.ts";
import { buildLibrary, installProgram } from "../../build/build.ts";
import { tryCommands } from "../../build/check/commands.ts";
import { readLibraryPage } from "../../build/check/documented.ts";
import { startProcess } from "../helpers/process.ts";
import { makeFolder, temporaryFolder } from "../helpers/temp.ts";
import { ANY_MARKER, sendHostileRequests } from "../torture/hostile.ts";
import { startService } from "../torture/service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VERSION = String(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);

/** The command line as a package holds it, in a folder without any other package. */
describe("the package", () => {
  const installed = makeFolder();
  const bin = join(installed.path, "bin/reprise.js");
  beforeAll(() => installProgram(ROOT, installed.path));
  afterAll(() => installed[Symbol.dispose]());

  const version = (env: Record<string, string | undefined>, uid?: number) =>
    startProcess(process.execPath, [bin, "--version"], {
      env: { NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, ...env },
      ...(uid === undefined ? {} : { uid }),
    }).finished;

  it("[PACK-1] runs every command without another package", async () => {
    await tryCommands({
      bin,
      node: process.execPath,
      home: temporaryFolder(),
      project: temporaryFolder(),
      version: VERSION,
    });
  });

  it("[PACK-1] [HTTP-50] answers hostile requests as its sources do", async () => {
    const database = join(temporaryFolder(), "reprise.db");
    await using service = await startService({ bin, database, args: ["--log"] });
    await sendHostileRequests({ url: service.url, requests: 1000 });
    await service.stop();
    expect(service.log()).not.toMatch(ANY_MARKER);
  });

  it("needs few files until its prompt, and none that needs LangChain", () => {
    const imports = (file: string): string[] => {
      const code = readFileSync(join(installed.path, "dist/program", file), "utf8");
      return [...code.matchAll(/^import .* from "\.\/(.*)";$/gm)].map(([, name = ""]) => name);
    };
    const files = new Set(["main.js", "chat.js"]);
    for (const file of files) {
      for (const imported of imports(file)) {
        files.add(imported);
      }
    }
    expect([...files].sort()).toEqual(
      ["chat", "commands", "core", "database", "main", "session"].map((name) => `${name}.js`),
    );
    expect(imports("core.js")).toEqual([]);
    expect(imports("database.js").sort()).toEqual(["commands.js", "core.js"]);
  });

  it("[PACK-2] runs its sources if they exist, whatever was built from them", async () => {
    const checkout = temporaryFolder();
    await installProgram(ROOT, checkout);
    mkdirSync(join(checkout, "src"));
    writeFileSync(join(checkout, "src/main.ts"), `console.log("the sources" satisfies string);`);
    const { stdout } = await startProcess(process.execPath, [join(checkout, "bin/reprise.js")])
      .finished;
    expect(stdout).toBe("the sources\n");
  });

  it("[PACK-3] keeps compiled code in the user's own cache, and nowhere else", async () => {
    const home = temporaryFolder();
    expect(await version({ HOME: home })).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
    const folder = join(home, ".cache/reprise/compiled");
    expect(readdirSync(folder)).not.toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(home)).toEqual([".cache"]);
  });

  it("[PACK-3] neither reads nor writes a folder that others may write", async () => {
    const home = temporaryFolder();
    const folder = join(home, ".cache/reprise/compiled");
    mkdirSync(folder, { recursive: true });
    for (const open of [folder, join(home, ".cache/reprise"), join(home, ".cache")]) {
      chmodSync(open, 0o777);
      expect(await version({ HOME: home })).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
      expect(readdirSync(folder)).toEqual([]);
      chmodSync(open, 0o755);
    }
    await version({ HOME: home });
    expect(readdirSync(folder)).not.toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "[PACK-3] [PACK-6] changes nothing in another user's folder, as with sudo (needs root)",
    async () => {
      const home = temporaryFolder();
      const folder = join(home, ".cache/reprise/compiled");
      mkdirSync(folder, { recursive: true });
      for (const place of [home, join(home, ".cache"), join(home, ".cache/reprise"), folder]) {
        chmodSync(place, 0o755);
      }
      chmodSync(installed.path, 0o755);
      expect(await version({ HOME: home }, 65_534)).toMatchObject({
        code: 0,
        stdout: `${VERSION}\n`,
      });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it.skipIf(process.getuid?.() !== 0).each([["with"], ["without"]])(
    "[PACK-3] [PACK-6] leaves none of root's files in another user's home %s a cache (needs root)",
    async (cache) => {
      const home = temporaryFolder();
      if (cache === "with") {
        mkdirSync(join(home, ".cache"));
      }
      for (const name of ["", ...readdirSync(home)]) {
        chownSync(join(home, name), 65_534, 65_534);
      }
      expect(await version({ HOME: home })).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
      expect(readdirSync(home, { recursive: true })).toEqual(cache === "with" ? [".cache"] : []);
    },
  );

  it("[PACK-3] works without a home", async () => {
    const { code, stdout } = await version({ HOME: undefined });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${VERSION}\n` });
    expect(existsSync(join(installed.path, ".cache"))).toBe(false);
  });
});

describe("the library", () => {
  const installed = makeFolder();
  const entry = join(installed.path, "dist/entries/index.js");
  let libraryModules: readonly string[] = [];
  beforeAll(async () => {
    for (const name of ["bin", "schemas", "package.json"]) {
      cpSync(join(ROOT, name), join(installed.path, name), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(installed.path, "node_modules"));
    const { output } = await buildLibrary(ROOT, join(installed.path, "dist"));
    libraryModules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  });
  afterAll(() => installed[Symbol.dispose]());

  const evaluate = (node: string, type: "module" | "commonjs", code: string) =>
    startProcess(node, [`--input-type=${type}`, "-e", code], { cwd: installed.path }).finished;

  it("[PACK-4] has the names of the public API, by import and by require", async () => {
    const api = Object.keys(await import("../../src/index.ts")).sort();
    const print = "console.log(JSON.stringify(Object.keys(api).sort()))";
    const imported = await evaluate(
      process.execPath,
      "module",
      `const api = await import(${JSON.stringify(entry)}); ${print}`,
    );
    const required = await evaluate(
      process.execPath,
      "commonjs",
      `const api = require(${JSON.stringify(entry)}); ${print}`,
    );
    for (const { code, stdout, stderr } of [imported, required]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(JSON.parse(stdout)).toEqual(api);
    }
  });

  it("[DOC-6] runs the programs of docs/library.md and docs/langgraph.md, which print what the pages say", async () => {
    const { programs, schema } = readLibraryPage(ROOT);
    expect(programs).toHaveLength(6);
    mkdirSync(join(installed.path, ".reprise/schemas"), { recursive: true });
    writeFileSync(join(installed.path, ".reprise/schemas/note.json"), schema);
    for (const [index, { code: program, output }] of programs.entries()) {
      const file = join(installed.path, `program-${index}.ts`);
      writeFileSync(file, program);
      const { code, stdout } = await startProcess(process.execPath, [file], {
        cwd: installed.path,
      }).finished;
      expect({ code, stdout }).toEqual({ code: 0, stdout: output });
    }
  });

  it("[DOC-7] has every export described in docs/library.md", () => {
    const page = readFileSync(join(ROOT, "docs/library.md"), "utf8");
    const entries = readdirSync(join(ROOT, "src/entries"));
    const sources = ["index.ts", ...entries.map((name) => `entries/${name}`)].map((name) =>
      readFileSync(join(ROOT, "src", name), "utf8"),
    );
    const names = [...sources.join("\n").matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
      .flatMap(([, list = ""]) => list.split(","))
      .map((name) => name.trim().replace(/^type |^.* as /g, ""))
      .filter((name) => name !== "");
    const described = new Set(page.match(/^\|.*\|$/gm)?.flatMap((row) => row.match(/\w+/g) ?? []));
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !described.has(name))).toEqual([]);
  });

  it("[PACK-8] has the names of each entry, by import and by require, of the same classes", async () => {
    for (const name of ["client", "langgraph", "plan", "server"]) {
      const api = Object.keys(await import(`../../src/entries/${name}.ts`)).sort();
      const file = join(installed.path, "dist/entries", `${name}.js`);
      for (const code of [
        `const api = await import(${JSON.stringify(file)});`,
        `import { createRequire } from "node:module";
         const api = createRequire(import.meta.url)(${JSON.stringify(file)});`,
      ]) {
        const same = `const root = await import(${JSON.stringify(entry)});
          console.log(JSON.stringify(Object.keys(api).sort()));
          console.log(Object.keys(api).every((name) => !(name in root) || api[name] === root[name]));`;
        const { stdout, stderr } = await evaluate(process.execPath, "module", code + same);
        expect({ name, stdout, stderr }).toEqual({
          name,
          stdout: `${JSON.stringify(api)}\ntrue\n`,
          stderr: "",
        });
      }
    }
  });

  it("[PACK-9] has a client that imports nothing, not even from Node.js", () => {
    const files = filesOf(installed.path, "client.js");
    const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
    expect(text).not.toMatch(/getBuiltinModule|\bprocess\.|\bBuffer\.|from "(?!\.\/)|\brequire\(/);
    expect(Buffer.byteLength(text)).toBeLessThan(32_000);
  });

  it.each([
    ["plan", /(?:fastify|kysely|@langchain|eventsource-parser)/],
    ["server", /@langchain/],
    ["langgraph", /(?:fastify|ajv)/],
  ])("[PACK-10] loads with reprise/%s no file of other entries", (name, others) => {
    const texts = filesOf(installed.path, `${name}.js`).map((file) => readFileSync(file, "utf8"));
    expect(texts.filter((text) => others.test(text.match(/^import .*$/gm)?.join() ?? ""))).toEqual(
      [],
    );
  });

  it("[PACK-7] leaves LangChain to the program, and opens nothing when it is imported", async () => {
    const folder = temporaryFolder();
    const saver = join(installed.path, "dist/entries/langgraph.js");
    const { code, stderr, stdout } = await startProcess(
      process.execPath,
      [
        "-e",
        `import(${JSON.stringify(saver)}).then((api) => console.log(Object.keys(api).join()))`,
      ],
      { cwd: folder, env: { HOME: folder } },
    ).finished;
    expect({ code, stderr, stdout }).toEqual({
      code: 0,
      stderr: "",
      stdout: `${Object.keys(await import("../../src/entries/langgraph.ts"))
        .sort()
        .join()}\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
    expect(libraryModules.filter((id) => id.includes("/node_modules/@langchain/"))).toEqual([]);
  });

  it("[PACK-14] gives parallel tasks, questions and changes of the state as MemorySaver does", async () => {
    cpSync(join(ROOT, "test/fixtures/peers/parallel.ts"), join(installed.path, "parallel.ts"));
    const { code, stderr } = await startProcess(process.execPath, ["parallel.ts"], {
      cwd: installed.path,
    }).finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("[PACK-7] [PACK-12] is tried with the oldest peers that it allows and with those of this checkout", () => {
    const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
    const { peerDependencies, devDependencies } = read("package.json");
    const { oldest, newest } = read("build/check/peers.json");
    const names = ["@langchain/core", "@langchain/langgraph-checkpoint"];
    const optional = Object.entries(PACKAGE_VERSIONS);
    expect(peerDependencies).toEqual(
      Object.fromEntries(
        [...names.map((name) => [name, oldest[name]]), ...optional].map(([name, version]) => [
          name,
          `^${version}`,
        ]),
      ),
    );
    expect(devDependencies).toMatchObject(newest);
    expect(Object.keys(newest)).toEqual(Object.keys(oldest));
  });

  const older = olderNode();
  it.skipIf(older === null)(
    "[PACK-5] prints on an older Node.js what the command line prints (needs one)",
    async () => {
      const { code, stderr } = await evaluate(
        older ?? "",
        "module",
        `import(${JSON.stringify(entry)}).catch((error) => { console.error(error.message); process.exit(1); })`,
      );
      const command = await startProcess(older ?? "", [join(installed.path, "bin/reprise.js")])
        .finished;
      expect(command.stderr).toMatch(/^reprise needs Node\.js 24\.15 or newer; this is \d/);
      expect({ code, stderr }).toEqual({ code: command.code, stderr: command.stderr });
    },
  );
});

/** A file of the library, and those that it imports at once. */
function filesOf(installed: string, first: string): string[] {
  const found = new Set<string>();
  const waiting = [first];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    found.add(name);
    const text = readFileSync(join(installed, "dist/library", name), "utf8");
    for (const [, other = ""] of text.matchAll(/^import [^"]*"\.\/([^"]+)";$/gm)) {
      if (!found.has(other)) {
        waiting.push(other);
      }
    }
  }
  return [...found].map((name) => join(installed, "dist/library", name));
}

/** A Node.js of this machine that is older than what Reprise needs, or null. */
function olderNode(): string | null {
  const found = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "node"))
    .filter((path) => isAbsolute(path) && existsSync(path));
  return (
    found.find((path) => {
      const { stdout } = spawnSync(path, ["-p", "process.versions.node"], { encoding: "utf8" });
      const [major = 0, minor = 0] = stdout.split(".").map(Number);
      return major >= 18 && (major < 24 || (major === 24 && minor < 15));
    }) ?? null
  );
}
