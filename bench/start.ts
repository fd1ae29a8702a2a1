import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

import { buildLibrary, installProgram } from "../build/build.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { temporaryFolder } from "./services.ts";

const RUNS = 25;
/** Runs before those that count, of which the first leaves compiled code. */
const WARM = 2;
const SESSIONS = 10_000;
/** util-linux' `script` gives a program a terminal, without which there is no prompt. */
const SCRIPT = "/usr/bin/script";

/** Ctrl-D, at which a terminal session leaves. */
const END_OF_INPUT = "\u0004";

/** First message of an editor. */
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: 1, clientCapabilities: {} },
};

/** What is measured; a program that runs longer is stopped, and waited for, off the clock. */
type Work = () => void | Promise<() => Promise<void>>;

interface Subject {
  readonly what: string;
  /** What the line has to reach; null: for comparison. */
  readonly most: number | null;
  /** Starts the program and waits for what is measured. */
  readonly ours: Work;
  readonly floor: Work;
}

/**
 * Whole processes, from their start to their end (or to the prompt), of a package that is built for
 * this, one after the other: the command line against `node -e 0`, with the code compiled by a start
 * before, and programs that import one entry of the package against an empty module.
 */
export const bench: Bench = {
  about: "starts of the built command line and of the package's entries, against empty programs",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    const root = fileURLToPath(new URL("..", import.meta.url));
    const installed = join(folder.path, "package");
    await installProgram(root, installed);
    await buildLibrary(root, join(installed, "dist"));
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    const database = join(folder.path, "sessions.db");
    const sessions = Math.round(SESSIONS * scale);
    await fill(database, sessions);
    const measurements: Measurement[] = [];
    for (const subject of subjects(folder.path, { database, sessions })) {
      measurements.push(await measure(subject, Math.max(1, Math.round(RUNS * scale))));
    }
    return measurements;
  },
};

function subjects(
  folder: string,
  { database, sessions }: { database: string; sessions: number },
): Subject[] {
  const bin = join(folder, "package/bin/reprise.js");
  const env = { HOME: folder, PATH: process.env["PATH"], REPRISE_DATABASE: database };
  const node = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env });
    if (status !== 0) {
      throw new Error(`a program failed: ${stderr.toString()}`);
    }
  };
  const empty = (): void => node("-e", "0");
  const untilPrompt = async (prompt: string) => {
    const command = `exec '${process.execPath}' '${bin}'`;
    const child = spawn(SCRIPT, ["-qfec", command, "/dev/null"], {
      cwd: folder,
      // without a name the terminal gets plain lines
      env: { ...env, TERM: "xterm" },
    });
    let screen = "";
    const output = child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false });
    for await (const text of output) {
      screen += String(text);
      if (stripVTControlCharacters(screen).includes(prompt)) {
        break;
      }
    }
    child.stdout.resume();
    if (!stripVTControlCharacters(screen).includes(prompt)) {
      throw new Error(`no prompt came: ${screen}`);
    }
    return async () => {
      const gone = once(child, "exit");
      child.stdin.end(END_OF_INPUT);
      await gone;
    };
  };
  const list = (): void => node(bin, "sessions", "list");
  const untilInitialized = async () => {
    const child = spawn(process.execPath, [bin, "acp"], { cwd: folder, env });
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    const [answer] = await once(child.stdout.setEncoding("utf8"), "data");
    if (!String(answer).includes("authMethods")) {
      throw new Error(`an editor got another answer: ${String(answer)}`);
    }
    return async () => {
      const gone = once(child, "exit");
      child.stdin.end();
      await gone;
    };
  };
  return [
    { what: "reprise --version", most: 1.3, ours: () => node(bin, "--version"), floor: empty },
    {
      what: `sessions list, with ${sessions} sessions`,
      most: 2,
      ours: list,
      floor: empty,
    },
    {
      what: "reprise acp, until initialize is answered, against sessions list",
      most: 1.3,
      ours: untilInitialized,
      floor: list,
    },
    ...(existsSync(SCRIPT)
      ? [
          {
            what: "reprise in a terminal, until its prompt can be read",
            most: 6,
            ours: () => untilPrompt("> "),
            floor: empty,
          },
        ]
      : []),
    ...entrySubjects(join(folder, "package"), node),
  ];
}

/** The one with a target: it needs nothing but `fetch`, and the others load packages. */
const CLIENT = "reprise/client";

/** A program in the package for each entry. Nothing keeps its compiled code, as for any program. */
function entrySubjects(folder: string, node: (program: string) => void): Subject[] {
  const manifest: { exports: Record<string, unknown> } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const empty = join(folder, "empty.js");
  writeFileSync(empty, "");
  const names = Object.keys(manifest.exports)
    .filter((path) => !path.endsWith(".json"))
    .map((path) => path.replace(".", "reprise"));
  return names.map((name, index) => {
    const program = join(folder, `entry-${index}.js`);
    writeFileSync(program, `import "${name}";\n`);
    return {
      what: `import "${name}"`,
      most: name === CLIENT ? 1.3 : null,
      ours: () => node(program),
      floor: () => node(empty),
    };
  });
}

async function measure({ what, most, ours, floor }: Subject, runs: number): Promise<Measurement> {
  const times = { ours: [] as number[], floor: [] as number[] };
  for (let run = -Math.min(WARM, runs); run < runs; run += 1) {
    const one = { floor: await timed(floor), ours: await timed(ours) };
    if (run >= 0) {
      times.floor.push(one.floor);
      times.ours.push(one.ours);
    }
  }
  return {
    what,
    unit: "ms",
    ours: median(times.ours),
    floor: median(times.floor),
    reach: most === null ? null : { at_most: most },
  };
}

async function timed(work: Work): Promise<number> {
  const begun = performance.now();
  const leave = await work();
  const elapsed = performance.now() - begun;
  await leave?.();
  return elapsed;
}

async function fill(path: string, sessions: number): Promise<void> {
  await using store = await openSqliteStore({ path });
  await Promise.all(Array.from({ length: sessions }, () => store.write(createSession, {})));
}
