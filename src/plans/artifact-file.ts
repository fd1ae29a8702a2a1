import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";

import type { ArtifactReport } from "../artifacts/finding.ts";
import type { Phase } from "../artifacts/plans/phase-plan.ts";
import { isRepriseError } from "../core/errors.ts";
import { quote } from "../core/text/terminal-text.ts";
import { type ResolvedPath, resolvePath } from "../rules/paths/resolve-path.ts";
import { resolveSandbox, type Sandbox } from "../rules/paths/sandbox.ts";
import type { Judge } from "../rules/permissions/judge.ts";
import { WRITE_FILE } from "../rules/tools/built-in.ts";
import { createLinkSearch } from "../workspace/files/control-links.ts";
import { denial, refusal } from "../workspace/files/refusal.ts";
import type { GitUser } from "../workspace/places/ask-git.ts";
import { createControlSearch } from "../workspace/places/found-control.ts";
import { find } from "../workspace/undo/disk.ts";
import { KEPT_LIMITS } from "../workspace/undo/kept-bytes.ts";

/** The artifact that a phase has to leave. */
export type ExpectedArtifact = NonNullable<Phase["expected_artifact"]>;

export interface ArtifactFolder {
  readonly repoPath: string;
  /** As of `SandboxFolder`. */
  readonly root?: string | null;
  readonly protectedPaths: readonly string[];
  readonly judge: Judge;
  /** User whose configuration of git names files that direct other programs. */
  readonly gitUser: GitUser;
}

/** Folder in which Reprise itself writes the artifacts of phases. */
export class ArtifactPlace {
  readonly #folder: ArtifactFolder;
  readonly #search;

  constructor(folder: ArtifactFolder) {
    this.#folder = folder;
    this.#search = { linked: createLinkSearch(), found: createControlSearch(folder.gitUser) };
  }

  /** Resolves the folder on the disk, with what no command in it may see. Error codes: `invalid_request`. */
  sandbox(): Promise<Sandbox> {
    const { judge, ...folder } = this.#folder;
    return resolveSandbox({ ...folder, ...this.#search, configured: judge.protected });
  }

  /**
   * Returns the file of an artifact, which need not be there. Refuses, as `write_file` does, what no tool may write or only
   * with a question; also a link, a folder, and a name that another one has on some disks.
   *
   * Error codes: `invalid_request`.
   */
  async resolve(path: string): Promise<ResolvedPath> {
    const target = await resolvePath(await this.sandbox(), path, WRITE_FILE);
    if (target.shown !== plainPath(path)) {
      throw denial(
        "the artifact's path leads through a link; the plan has to name the file itself",
      );
    }
    if (target.stat !== null && !target.stat.isFile()) {
      throw refusal("the artifact's path is not that of a file; the plan has to name another one");
    }
    const twin = await twinOf(target.path);
    if (twin !== null) {
      throw refusal(
        `the artifact's path differs from ${quote(twin)} only in its spelling; the plan has to name another one`,
      );
    }
    const { effect, reason, rule } = await this.#folder.judge.decideArtifact(target.file);
    if (effect !== "allow") {
      throw denial(
        `the artifact's path may not be written: ${reason ?? `the rule ${rule} denies it`}`,
      );
    }
    return target;
  }

  /** Returns the SHA-256 of the file at the path of an artifact; null if there is none, or what is there is no file. */
  async hashOf(path: string): Promise<string | null> {
    const { root } = await this.sandbox();
    try {
      const { entry } = await find({ root, path: plainPath(path) }, KEPT_LIMITS.session);
      return entry?.kind === "file" ? entry.hash : null;
    } catch (error) {
      if (isRepriseError(error, "invalid_request")) {
        return null;
      }
      throw error;
    }
  }
}

/** Path of a plan without `.` and doubled slashes. */
function plainPath(path: string): string {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
}

/** Returns the name of another entry of the folder that some file systems take for this one. */
async function twinOf(path: string): Promise<string | null> {
  const name = basename(path);
  const names = await readdir(dirname(path)).catch(() => []);
  return names.find((each) => each !== name && folded(each) === folded(name)) ?? null;
}

function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/**
 * Validates the content of an artifact against its schema; without a published one, content that is neither JSON nor YAML is
 * taken as it is, with a warning. The validator is loaded with the first one. `folder` is a real path.
 *
 * Error codes: `schema_unknown`, `schema_invalid`, `schema_checks_busy`, `file_unreadable`.
 */
export async function checkContent(
  { path, schema: id }: ExpectedArtifact,
  content: string,
  folder: string,
): Promise<ArtifactReport> {
  const [{ loadSchemas }, { createWorkerPool }, { validateWith, unpublishedText }] =
    await Promise.all([
      import("../artifacts/registry.ts"),
      import("../artifacts/project/worker-pool.ts"),
      import("../artifacts/check-artifact.ts"),
    ]);
  const pool = createWorkerPool();
  try {
    const registry = await loadSchemas(folder, pool);
    const isYaml = /\.ya?ml$/i.test(path);
    if (!isYaml && !/\.json$/i.test(path) && (await registry.schema(id)) === null) {
      return unpublishedText(id);
    }
    const syntax = isYaml ? "yaml" : "json";
    return await validateWith({ text: content, syntax }, { id, registry });
  } finally {
    await pool.close();
  }
}
