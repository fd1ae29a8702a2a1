import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";

import { isTrusted, type TrustSource } from "../trust/trust.ts";
import { readStart } from "./text-file.ts";

/** Its name, in the folder of the session. */
export const INSTRUCTIONS_FILE = "AGENTS.md";

const MAX_INSTRUCTIONS_BYTES = 64 * 1024;

/**
 * The repository's `AGENTS.md`, which every persona is given, or null if there is none or the
 * repository is not trusted. At most 64 KB, and says when it was cut. Only a regular file that lies
 * in the repository is read.
 */
export async function repoInstructions(
  repoPath: string,
  trust: TrustSource,
): Promise<string | null> {
  const path = join(repoPath, INSTRUCTIONS_FILE);
  const start = await readStart({ path, within: repoPath, maxBytes: MAX_INSTRUCTIONS_BYTES });
  if (typeof start === "string" || !(await isTrusted(trust, repoPath))) {
    return null;
  }
  // a decoder that is never ended holds back a character that the cut went through
  const text = new StringDecoder("utf8").write(start.bytes).replace(/^\u{FEFF}/u, "");
  const clean = text.replaceAll("\0", "\u{FFFD}").trim();
  if (clean === "") {
    return null;
  }
  return start.cut ? `${clean}\n\n(AGENTS.md continues; only its first 64 KB are included)` : clean;
}
