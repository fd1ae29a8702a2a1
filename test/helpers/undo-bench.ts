import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { onTestFinished } from "vitest";

import { KnownFiles } from "../../src/agent/known-files.ts";
import { sessionTools } from "../../src/agent/tools/session-tools.ts";
import type { Session } from "../../src/core/sessions.ts";
import { holdLease } from "../../src/exchange/lease-holder.ts";
import { createKeptBytes, type KeptLimits } from "../../src/workspace/undo/kept-bytes.ts";
import type { RecorderOptions } from "../../src/workspace/undo/commands/record-command.ts";
import { createKeeper, type KeepChanges } from "../../src/workspace/undo/keeper.ts";
import { undoExchange, type UndoExchange } from "../../src/exchange/undo/undo-exchange.ts";
import { thisProcess } from "../../src/store/records/leases/this-process.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { commandTools } from "./command-tools.ts";
import { createDatabase } from "./database.ts";
import { openStoreAt } from "./open-store.ts";
import { PERMITTED } from "./permit.ts";
import { readingFirst } from "./reading-first.ts";
import { temporaryFolder } from "./temp.ts";

/** A session in a folder with files, whose tools change them so that it can be undone. */
export async function undoBench(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  limits?: KeptLimits,
  recording: Pick<RecorderOptions, "limits"> = {},
) {
  const database = await createDatabase();
  const store = await openStoreAt(database.location);
  onTestFinished(async () => {
    await store.close();
    await database[Symbol.asyncDispose]();
  });
  const outside = temporaryFolder();
  const repo = join(outside, "repo");
  const folder = join(outside, "state", "undo");
  mkdirSync(repo);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), content);
    // with any umask
    chmodSync(join(repo, path), 0o644);
  }
  const kept = createKeptBytes(folder, limits);
  const session = await store.write(createSession, { repo_path: repo });
  const within = async <Result>(
    { n = 1, of = session }: { readonly n?: number; readonly of?: Session },
    work: (call: Call, keep: KeepChanges) => Promise<Result>,
    between: (keep: KeepChanges) => KeepChanges = (keep) => keep,
  ): Promise<Result> => {
    const held = await holdLease({
      store,
      session_id: of.id,
      owner: thisProcess("test"),
      life_ms: 60_000,
      when_busy: "refuse",
      signal: new AbortController().signal,
    });
    const keep = between(createKeeper({ store, fence: held.fence, n: () => n, kept }));
    const commands = commandTools({ ...recording, store, session_id: of.id, n: () => n, kept });
    const known = new KnownFiles();
    const tools = sessionTools({
      known,
      ...PERMITTED,
      repoPath: repo,
      protectedPaths: [],
      keep,
      commands,
    });
    const call = readingFirst(tools, known);
    try {
      return await work(call, keep);
    } finally {
      await held.release({ finished: false, end: null });
    }
  };
  const act = (input: Omit<UndoExchange, "reference"> & { readonly reference?: string }) =>
    undoExchange({ store, kept, command: "test" }, { reference: session.id, ...input });
  return {
    store,
    location: database.location,
    outside,
    repo,
    folder,
    kept,
    session,
    within,
    /** Calls of the tools in exchange `n`, one after the other; each must succeed. */
    change: (n: number, ...calls: readonly (readonly [name: string, args: object])[]) =>
      within({ n }, async (call) => {
        for (const [name, args] of calls) {
          const result = await call(name, args);
          if (result.startsWith("Error")) {
            throw new Error(result);
          }
        }
      }),
    undo: (input: Partial<UndoExchange> = {}) => act({ direction: "undo", ...input }),
    redo: (input: Partial<UndoExchange> = {}) => act({ direction: "redo", ...input }),
    file: (path: string) => readFileSync(join(repo, path), "utf8"),
    write: (path: string, content: string | Uint8Array, mode?: number) => {
      writeFileSync(join(repo, path), content);
      if (mode !== undefined) {
        chmodSync(join(repo, path), mode);
      }
    },
    tree: () => walked(repo),
  };
}

export type UndoBench = Awaited<ReturnType<typeof undoBench>>;

type Call = (name: string, args: object) => Promise<string>;

/** Every name below a folder with its mode and its bytes or target, read in no way that Reprise has. */
export function walked(top: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(top, { recursive: true, encoding: "utf8" }).toSorted()) {
    const stat = lstatSync(join(top, name));
    const mode = (stat.mode & 0o7777).toString(8);
    found[name] = stat.isSymbolicLink()
      ? `-> ${readlinkSync(join(top, name))}`
      : stat.isDirectory()
        ? `${mode} folder`
        : `${mode} ${readFileSync(join(top, name), "base64")}`;
  }
  return found;
}

export const runs = (line: string) => ["run_command", { line }] as const;
export const writes = (path: string, content: string) => ["write_file", { path, content }] as const;
export const edits = (path: string, old_text: string, new_text: string) =>
  ["edit_file", { path, old_text, new_text }] as const;
