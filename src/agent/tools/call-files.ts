import { createHash } from "node:crypto";

import { ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";

import { chunksOf, openFile } from "../../workspace/files/open-file.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import type { ResolvedPath } from "../../rules/paths/resolve-path.ts";
import type { ChangingCall, Content, KeepChanges } from "../../workspace/undo/keeper.ts";
import { KEPT_LIMITS } from "../../workspace/undo/kept-bytes.ts";
import { contentHash, digestOf, type KnownFiles, noteOf } from "../known-files.ts";
import type { MakeChanges } from "../permit/permit.ts";
import { type CallConfig, reportFailure } from "./tool-result.ts";

/** Larger files have no hash, so that no tool can change them. */
export const MAX_HASHED_BYTES = BigInt(KEPT_LIMITS.session);

/** What one call reads and writes of files, and what it must not overwrite. */
export class CallFiles {
  readonly #known: KnownFiles;
  readonly #read: string[] = [];
  readonly #wrote: string[] = [];

  constructor(known: KnownFiles) {
    this.#known = known;
  }

  /** Notes the hash of a file that is read. */
  hasRead({ shown }: ResolvedPath, hash: string): void {
    this.#read.push(noteOf(shown, hash));
  }

  /** Refuses a file that is not as the model knows it. */
  async refuseForeign(target: ResolvedPath): Promise<void> {
    if (target.stat?.isFile() === true) {
      this.refuseOther(target.shown, await hashOnDisk(target));
    }
  }

  /** True for a file that has the hash that the model knows. */
  isKnown(shown: string, hash: string): boolean {
    return this.#known.hashOf(shown) === hash;
  }

  /** Refuses a file that has another hash than the model knows, or none. */
  refuseOther(shown: string, hash: string | null): void {
    const known = this.#known.hashOf(shown);
    if (hash === null) {
      throw refusal(
        `${shown} cannot be read or is over 256 MiB, so it cannot be changed; ask the user`,
      );
    }
    if (known === null) {
      throw refusal(`file_changed: ${shown} exists and you have not read it: read it first`);
    }
    if (known !== hash) {
      throw fileChanged(shown);
    }
  }

  /** Makes changes of files that are still as the model knows them. */
  through(keep: KeepChanges, call: Omit<ChangingCall, "root">): MakeChanges {
    return async (root, changes, act) => {
      for (const { path, before } of changes) {
        if (before?.kind === "file") {
          this.refuseOther(path, hashOf(before));
        }
      }
      await keep({ ...call, root }, changes, act);
      for (const { path, before, after } of changes) {
        if (before?.kind === "file" || after?.kind === "file") {
          const note = noteOf(path, hashOf(after));
          this.#wrote.push(note);
          this.#known.wrote(note);
        }
      }
    };
  }

  /** The result of the call with the hashes of its files, if a model called it. */
  noted(result: string | ToolMessage, { toolCall }: CallConfig): string | ToolMessage {
    const { id, name } = toolCall ?? {};
    const notes = { read: this.#read.join(" "), wrote: this.#wrote.join(" ") };
    const artifact = Object.fromEntries(Object.entries(notes).filter(([, note]) => note !== ""));
    if (id === undefined || name === undefined || Object.keys(artifact).length === 0) {
      return result;
    }
    const {
      content,
      status = "success",
      response_metadata = {},
    } = typeof result === "string" ? { content: result } : result;
    const message = { content, name, tool_call_id: id, status, artifact };
    return new ToolMessage({ ...message, response_metadata });
  }
}

/** As `reportFailure`, for a tool that reads or changes files. */
export function reportFiles<Input>(
  known: KnownFiles,
  act: (input: Input, config: CallConfig & RunnableConfig, files: CallFiles) => Promise<string>,
): (input: Input, config: CallConfig & RunnableConfig) => Promise<string | ToolMessage> {
  return async (input, config) => {
    const files = new CallFiles(known);
    const run = reportFailure<Input>((given, at) => act(given, at, files));
    return files.noted(await run(input, config), config);
  };
}

/** For a model that has read what is not there any more. */
export function fileChanged(shown: string): Error {
  return refusal(`file_changed: ${shown} changed since you read it: read it again`);
}

function hashOf(content: Content | null): string | null {
  return content?.kind === "file" && content.bytes !== null ? contentHash(content.bytes) : null;
}

async function hashOnDisk(target: ResolvedPath): Promise<string | null> {
  await using file = await openFile(target);
  if ((target.stat?.size ?? 0n) > MAX_HASHED_BYTES) {
    return null;
  }
  const hash = createHash("sha256");
  for await (const chunk of chunksOf(file)) {
    hash.update(chunk);
  }
  return digestOf(hash);
}
