import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { RepriseSaver, type RepriseSaverOptions } from "../../src/langgraph/reprise-saver.ts";
import { KeepingSaver } from "../foreign-thread.ts";
import { databaseBytes } from "../postgres.ts";
import type { WorkloadName } from "./workloads.ts";

/** A saver whose cost is measured. */
export interface Contender {
  readonly title: string;
  /** What a database of it is: a file, a PostgreSQL database, or the memory of the process. */
  readonly on: "file" | "postgres" | "memory" | "nowhere";
  /** Where it stops because it keeps every state whole; null for one that does not. */
  readonly limit: { readonly exchanges: number; readonly bytes: number } | null;
  /** Measured with plain exchanges only: it explains their figures, and each course takes long. */
  readonly explains?: true;
  open(location: string): Promise<OpenSaver>;
}

export interface OpenSaver {
  readonly saver: BaseCheckpointSaver;
  /** Everything is in the database afterwards. */
  close(): Promise<void>;
}

const MAX_BYTES = 4 * 2 ** 30;
const OFFICIAL = { exchanges: 300, bytes: MAX_BYTES };

export const CONTENDERS = {
  alone: {
    title: "LangGraph alone, which stores nothing",
    on: "nowhere",
    limit: null,
    explains: true,
    open: () => Promise.resolve({ saver: new KeepingSaver(), close: () => Promise.resolve() }),
  },
  "reprise-sqlite": {
    title: "RepriseSaver, SQLite",
    on: "file",
    limit: null,
    open: (path) => openReprise(path),
  },
  "reprise-frozen": {
    title: "RepriseSaver, SQLite, frozen",
    on: "file",
    limit: null,
    explains: true,
    open: (path) => openReprise(path, { frozen: true }),
  },
  "reprise-postgres": {
    title: "RepriseSaver, PostgreSQL",
    on: "postgres",
    limit: null,
    open: (url) => openReprise(url),
  },
  memory: {
    title: "MemorySaver",
    on: "memory",
    limit: { exchanges: Infinity, bytes: MAX_BYTES },
    open: () => Promise.resolve({ saver: new MemorySaver(), close: () => Promise.resolve() }),
  },
  "official-sqlite": {
    title: "SqliteSaver",
    on: "file",
    limit: OFFICIAL,
    open: async (path) => {
      const { SqliteSaver } = await official<SqliteModule>("sqlite");
      const saver = SqliteSaver.fromConnString(path);
      return { saver, close: () => Promise.resolve(saver.db.close()) };
    },
  },
  "official-postgres": {
    title: "PostgresSaver",
    on: "postgres",
    limit: OFFICIAL,
    open: async (url) => {
      const { PostgresSaver } = await official<PostgresModule>("postgres");
      const saver = PostgresSaver.fromConnString(url);
      await saver.setup();
      return { saver, close: () => saver.end() };
    },
  },
} as const satisfies Readonly<Record<string, Contender>>;

export type ContenderName = keyof typeof CONTENDERS;

export function isContender(name: string): name is ContenderName {
  return name in CONTENDERS;
}

/** Those of a workload, in the order in which they run. */
export function contendersOf(workload: WorkloadName): ContenderName[] {
  return Object.keys(CONTENDERS)
    .filter(isContender)
    .filter((name) => {
      const { explains }: Contender = CONTENDERS[name];
      return workload === "plain" || explains !== true;
    });
}

function openReprise(location: string, options: RepriseSaverOptions = {}): Promise<OpenSaver> {
  const saver = new RepriseSaver(location, options);
  return Promise.resolve({ saver, close: () => saver.end() });
}

/** What a contender has stored, in bytes; of the memory, what MemorySaver has serialized. */
export async function bytesOf(
  contender: Contender,
  { location, saver }: { readonly location: string; readonly saver: BaseCheckpointSaver | null },
): Promise<number> {
  switch (contender.on) {
    case "file":
      return ["", "-wal"].reduce((sum, end) => sum + sizeOf(`${location}${end}`), 0);
    case "postgres":
      return databaseBytes(location);
    case "nowhere":
      return 0;
    case "memory":
      return saver instanceof MemorySaver ? serializedBytes([saver.storage, saver.writes]) : 0;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function serializedBytes(value: unknown): number {
  if (value instanceof Uint8Array) {
    return value.length;
  }
  return typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, member) => sum + serializedBytes(member), 0)
    : 0;
}

interface SqliteModule {
  readonly SqliteSaver: {
    fromConnString(path: string): BaseCheckpointSaver & { readonly db: { close(): void } };
  };
}

interface PostgresModule {
  readonly PostgresSaver: {
    fromConnString(url: string): BaseCheckpointSaver & {
      setup(): Promise<void>;
      end(): Promise<void>;
    };
  };
}

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/**
 * Installs the official savers beside this file, once. They take LangChain's packages from this
 * project. Returns why it failed; null if they are there.
 */
export function installOfficial(): string | null {
  if (existsSync(join(FOLDER, "node_modules"))) {
    return null;
  }
  try {
    const args = ["ci", "--legacy-peer-deps", "--no-audit", "--no-fund"];
    execFileSync("npm", args, { cwd: FOLDER, stdio: ["ignore", "ignore", "pipe"] });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.split("\n", 1).join("") : String(error);
  }
}

async function official<Module>(engine: "sqlite" | "postgres"): Promise<Module> {
  const path = createRequire(import.meta.url).resolve(`@langchain/langgraph-checkpoint-${engine}`);
  const module: Module = await import(pathToFileURL(path).href);
  return module;
}
