import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { installProgram } from "../build/build.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import { fill } from "./fill-thread.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { makeDatabase, temporaryFolder } from "./services.ts";
import {
  end,
  loaded,
  prompt,
  SHORT,
  startInTerminal,
  type TerminalProgram,
} from "./terminal-program.ts";
import { besideOtherTerminals } from "./other-terminals.ts";
import { startTokenModel, type TokenModel } from "./token-model.ts";

const TOKENS = 5000;
const TOKEN_MS = 4;
const STARTS = 15;
const REQUESTS = 15;
const LONG = "a long answer";
const SESSIONS = { empty: 0, long: 2000, longest: 5000 } as const;

type Session = keyof typeof SESSIONS;

/** The built program, its model and its sessions. */
interface Stage {
  readonly scale: number;
  readonly model: TokenModel;
  readonly tokens: number;
  start(args: readonly string[]): TerminalProgram;
  /** Another program of Node.js in the same terminal. */
  startScript(path: string): TerminalProgram;
  readonly sessions: Readonly<Record<Session, string>>;
  readonly folder: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** What Node.js runs. */
  readonly program: readonly string[];
}

/** The screen of a session in a real terminal, with a model on loopback, against lines and bare writes. */
export const bench: Bench = {
  about: "the screen of a session in a terminal: processor time, bytes, delays, memory",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    const tokens = Math.max(50, Math.round(TOKENS * scale));
    await using model = await startTokenModel({
      tokens: (question) => (question.includes(LONG) ? tokens : 1),
      everyMs: TOKEN_MS,
    });
    const stage = await setUp({ folder: folder.path, model, scale, tokens });
    return [
      ...(await measureTokens(stage)),
      await measureRequests(stage),
      await measureMemory(stage),
      ...(await measureStarts(stage)),
      ...(await besideOtherTerminals([process.execPath, ...stage.program], stage)),
    ];
  },
};

async function setUp(given: {
  readonly folder: string;
  readonly model: TokenModel;
  readonly scale: number;
  readonly tokens: number;
}): Promise<Stage> {
  const { folder, model, scale, tokens } = given;
  const root = fileURLToPath(new URL("..", import.meta.url));
  await installProgram(root, join(folder, "package"));
  const bin = join(folder, "package/bin/reprise.js");
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const database = await makeDatabase(join(folder, "sessions.db"));
  const env = {
    HOME: folder,
    PATH: process.env["PATH"] ?? "",
    TERM: "xterm-256color",
    REPRISE_DATABASE: database,
    REPRISE_MODEL: "openai:test",
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "test-key",
  };
  await using store = await openSqliteStore({ path: database });
  const made = async (messages: number): Promise<string> => {
    const { id } = await store.write(createSession, {});
    await fill(store, { session_id: id, exchanges: Math.round((messages * scale) / 2), rounds: 0 });
    return id;
  };
  const program = ["--disable-warning=ExperimentalWarning", bin];
  return {
    scale,
    model,
    tokens,
    folder,
    cwd,
    env,
    program,
    start: (args) => startInTerminal([...program, ...args], { cwd, env }),
    startScript: (path) => startInTerminal([path], { cwd, env }),
    sessions: {
      empty: await made(SESSIONS.empty),
      long: await made(SESSIONS.long),
      longest: await made(SESSIONS.longest),
    },
  };
}

interface Streamed {
  readonly processorMs: number;
  readonly bytes: number;
}

/** An exchange after a first one, which loads everything. */
async function streamed(stage: Stage, args: readonly string[]): Promise<Streamed> {
  await using program = stage.start(args);
  await loaded(program, args);
  const before = program.processorMs();
  program.mark();
  program.type(`${LONG}\r`);
  await program.until(end(args, stage.tokens));
  return {
    processorMs: program.processorMs() - before,
    bytes: Buffer.byteLength(program.written()),
  };
}

async function measureTokens(stage: Stage): Promise<Measurement[]> {
  const { tokens, scale, folder } = stage;
  const runs = { screen: [] as Streamed[], plain: [] as Streamed[], bare: [] as number[] };
  for (let run = 0; run < Math.max(1, Math.round(3 * scale)); run += 1) {
    const screen = await streamed(stage, []);
    runs.screen.push(screen);
    runs.plain.push(await streamed(stage, ["--plain"]));
    runs.bare.push(
      await bareWrites(stage, { bytes: screen.bytes, path: join(folder, "bare.mjs") }),
    );
  }
  const cpu = (each: readonly Streamed[]): number =>
    median(each.map(({ processorMs }) => processorMs));
  const [screen, plain, bare] = [cpu(runs.screen), cpu(runs.plain), median(runs.bare)];
  const line = { unit: "ms", reach: null };
  return [
    {
      what: `${tokens} tokens on the screen, processor time beyond that with --plain, compared with writing the bytes`,
      unit: "ms",
      ours: Math.max(0, screen - plain),
      floor: bare,
      reach: { at_most: 15 },
    },
    {
      ...line,
      what: "the same, all of the process, compared with --plain",
      ours: screen,
      floor: plain,
    },
    { ...line, what: "the same, compared with writing the bytes", ours: screen, floor: bare },
    {
      what: "bytes for each token",
      unit: "bytes",
      ours: median(runs.screen.map(({ bytes }) => bytes)) / tokens,
      floor: null,
      reach: { at_most: 160 },
    },
  ];
}

/** Processor time of a program that writes so many bytes to a terminal, in as many pieces as there are tokens. */
async function bareWrites(
  stage: Stage,
  { bytes, path }: { readonly bytes: number; readonly path: string },
): Promise<number> {
  const size = Math.max(1, Math.round(bytes / stage.tokens));
  writeFileSync(
    path,
    `process.stdin.once("data", async () => {
  for (let index = 0; index < ${stage.tokens}; index += 1) {
    process.stdout.write("x".repeat(${size - 2}) + "\\r\\n");
    if (index % 8 === 7) await new Promise((resolve) => setTimeout(resolve, ${8 * TOKEN_MS}));
  }
  process.stdout.write("written");
});
process.stdout.write("waiting");`,
  );
  await using program = stage.startScript(path);
  await program.until(/waiting/);
  const before = program.processorMs();
  program.type("\r");
  await program.until(/written/);
  return program.processorMs() - before;
}

/** From Enter to the arrival of the request, once all is loaded. */
async function measureRequests(stage: Stage): Promise<Measurement> {
  const times = { screen: [] as number[], plain: [] as number[] };
  await using screen = stage.start([]);
  await loaded(screen, []);
  await using plain = stage.start(["--plain"]);
  await loaded(plain, ["--plain"]);
  const one = async (program: TerminalProgram, args: readonly string[]): Promise<number> => {
    const request = stage.model.nextRequest();
    program.mark();
    program.type(SHORT);
    await program.until(/answer/);
    program.mark();
    const begun = performance.now();
    program.type("\r");
    const arrived = await request;
    await program.until(end(args, 1));
    return arrived - begun;
  };
  for (let run = -2; run < Math.max(2, Math.round(REQUESTS * stage.scale)); run += 1) {
    const [ours, floor] = [await one(screen, []), await one(plain, ["--plain"])];
    if (run >= 0) {
      times.screen.push(ours);
      times.plain.push(floor);
    }
  }
  return {
    what: "from Enter to the request, once loaded, compared with --plain",
    unit: "ms",
    ours: median(times.screen),
    floor: median(times.plain),
    reach: { at_most: 1.2 },
  };
}

async function measureMemory(stage: Stage): Promise<Measurement> {
  const sizes = { long: [] as number[], empty: [] as number[] };
  for (let run = 0; run < Math.max(1, Math.round(3 * stage.scale)); run += 1) {
    for (const name of ["long", "empty"] as const) {
      await using program = stage.start(["--session", stage.sessions[name]]);
      await loaded(program, []);
      sizes[name].push(program.residentMegabytes());
    }
  }
  return {
    what: "memory after an exchange in a session of 2,000 messages, compared with an empty one",
    unit: "MB",
    ours: median(sizes.long),
    floor: median(sizes.empty),
    reach: { at_most: 1.5 },
  };
}

async function measureStarts(stage: Stage): Promise<Measurement[]> {
  const kinds = {
    screen: [],
    plain: ["--plain"],
    empty: ["--session", stage.sessions.empty],
    longest: ["--session", stage.sessions.longest],
  } as const;
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const times = { screen: [], plain: [], empty: [], longest: [] } as Record<string, number[]>;
  const sizes = { screen: [], plain: [], empty: [], longest: [] } as Record<string, number[]>;
  for (let run = -1; run < Math.max(1, Math.round(STARTS * stage.scale)); run += 1) {
    for (const name of names) {
      const begun = performance.now();
      await using program = stage.start(kinds[name]);
      await program.until(prompt(kinds[name]));
      if (run >= 0) {
        times[name]?.push(performance.now() - begun);
        sizes[name]?.push(program.residentMegabytes());
      }
    }
  }
  const line = (what: string, of: { ours: string; floor: string; most: number }): Measurement => ({
    what,
    unit: "ms",
    ours: median(times[of.ours] ?? []),
    floor: median(times[of.floor] ?? []),
    reach: { at_most: of.most },
  });
  return [
    line("first screen, compared with --plain", { ours: "screen", floor: "plain", most: 1.3 }),
    line("resuming a session of 5,000 messages, compared with an empty one", {
      ours: "longest",
      floor: "empty",
      most: 1.5,
    }),
    {
      what: "memory before the first key, compared with --plain",
      unit: "MB",
      ours: median(sizes["screen"] ?? []),
      floor: median(sizes["plain"] ?? []),
      reach: null,
    },
  ];
}
