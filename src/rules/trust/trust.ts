import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { changeDecision, type Decision, readDecisions } from "./decisions.ts";
import { projectTop } from "./project-top.ts";
import type { FolderChoice } from "./wide-folder.ts";

/**
 * Who may use the files of a folder. Whatever loads a persona, an AGENTS.md or anything else that
 * comes with a folder asks `isTrusted` itself; no request, persona or file of a folder can answer.
 */
export interface TrustSource extends FolderChoice {
  /** Keeps the decisions of the operating-system user; null if there is no place for it. */
  readonly file: string | null;
  /** Folders that are trusted for this run besides; nothing of it is kept. */
  readonly forThisRun: RunTrust;
}

/**
 * `--trust` counts for the project of the folder that the person is in. `all` is for a caller that
 * only compares names and lets nothing of a folder act.
 */
export type RunTrust = "none" | "all" | { readonly folder: string };

/** Answer of the user about the project that a folder belongs to. */
export type TrustAnswer = "trusted" | "declined" | "unanswered";

/** True if the user trusts the project that the folder belongs to. Never throws. */
export async function isTrusted(source: TrustSource, folder: string): Promise<boolean> {
  return (await answerFor(source, folder, null)) === "trusted";
}

/** The kept answer; a no counts only for the list with this fingerprint. Never throws. */
export async function answerFor(
  source: TrustSource,
  folder: string,
  fingerprint: string | null,
): Promise<TrustAnswer> {
  if (await isTrustedForThisRun(source, folder)) {
    return "trusted";
  }
  const decision = await decisionOn(source, folder);
  if (decision?.trusted === true) {
    return "trusted";
  }
  const declined = fingerprint !== null && decision?.declined.includes(fingerprint) === true;
  return declined ? "declined" : "unanswered";
}

/** True if the user trusts the project and was shown what of the folder has this digest: see `Startable`. Never throws. */
export async function isSeen(
  source: TrustSource,
  folder: string,
  digest: string,
): Promise<boolean> {
  if (await isTrustedForThisRun(source, folder)) {
    return true;
  }
  const decision = await decisionOn(source, folder);
  return decision?.trusted === true && decision.seen.includes(digest);
}

async function isTrustedForThisRun(
  { forThisRun, home }: TrustSource,
  folder: string,
): Promise<boolean> {
  return typeof forThisRun === "string"
    ? forThisRun === "all"
    : isSameProject({ home, a: forThisRun.folder, b: folder });
}

/** True if one decision counts for both folders. */
export async function isSameProject(input: {
  readonly home: string | null;
  readonly a: string;
  readonly b: string;
}): Promise<boolean> {
  const { home, a, b } = input;
  return (await projectTop(a, home)) === (await projectTop(b, home));
}

async function decisionOn(source: TrustSource, folder: string): Promise<Decision | null> {
  if (source.file === null) {
    return null;
  }
  try {
    const [decisions, top] = await Promise.all([
      readDecisions(source.file),
      projectTop(folder, source.home),
    ]);
    return decisions.find(({ path }) => path === top) ?? null;
  } catch (error) {
    if (isRepriseError(error)) {
      return null;
    }
    throw error;
  }
}

/** Lists of one project that a no is remembered for. */
const MAX_DECLINED = 50;
/** Digests of one project that a yes is remembered for: a folder has up to 200 personas with servers. */
const MAX_SEEN = 400;

/** Answer of the user: a yes, with the digests of what was shown of the folder, or a no to the list with this fingerprint. */
export type GivenAnswer =
  | { readonly trusted: true; readonly seen: readonly string[] }
  | { readonly trusted: false; readonly declined: string };

/** Keeps the user's answer. Returns the folder that it counts for. Error codes: `config_invalid`. */
export async function keepAnswer(
  source: TrustSource,
  folder: string,
  answer: GivenAnswer,
): Promise<string> {
  const path = await projectTop(folder, source.home);
  const at = new Date().toISOString();
  await changeDecision(fileOf(source), path, (before) => {
    const kept = { path, trusted: answer.trusted, at };
    if (!answer.trusted) {
      const declined = [...(before?.declined ?? []), answer.declined].slice(-MAX_DECLINED);
      return { ...kept, declined, seen: [] };
    }
    const others = (before?.seen ?? []).filter((digest) => !answer.seen.includes(digest));
    return { ...kept, declined: [], seen: [...others, ...answer.seen].slice(-MAX_SEEN) };
  });
  return path;
}

/** Forgets the answer; returns the folder that it counted for. Error codes: `config_invalid`. */
export async function forgetAnswer(source: TrustSource, folder: string): Promise<string> {
  const path = await projectTop(folder, source.home);
  await changeDecision(fileOf(source), path, () => null);
  return path;
}

/** Every kept decision. Error codes: `config_invalid`. */
export async function listDecisions(source: TrustSource): Promise<readonly Decision[]> {
  return readDecisions(fileOf(source));
}

/** The tops of the projects that the user trusts, as far as the decisions can be read. Never throws. */
export async function trustedProjects({ file }: TrustSource): Promise<readonly string[]> {
  const decisions = file === null ? [] : await readDecisions(file).catch(() => []);
  return decisions.filter(({ trusted }) => trusted).map(({ path }) => path);
}

function fileOf({ file }: TrustSource): string {
  if (file === null) {
    throw new RepriseError(
      "config_invalid",
      "Reprise does not know where to keep decisions on trust, because HOME is not set; set HOME or XDG_STATE_HOME to an absolute path.",
    );
  }
  return file;
}
