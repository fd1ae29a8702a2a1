import { statSync } from "node:fs";

import type { Persona } from "./persona.ts";

/** Parsed persona files. One that was changed in any way is parsed again. */
export interface PersonaCache {
  /** `key` names how the file at `path` is read. */
  read(file: { readonly key: string; readonly path: string }, parse: Parse): Promise<Persona>;
}

type Parse = () => Promise<Persona>;

const MAX_ENTRIES = 100;
/** A file that was changed just now may be changed again without another time stamp. */
const MIN_AGE_MS = 2000;

/** `now` is the clock that times of files are compared with. */
export function createPersonaCache(now = Date.now): PersonaCache {
  const known = new Map<string, { readonly identity: string; readonly persona: Persona }>();
  return {
    read: async ({ key, path }, parse) => {
      const identity = identityOf(path, now());
      const found = known.get(key);
      if (found !== undefined && found.identity === identity) {
        return found.persona;
      }
      known.delete(key);
      const persona = await parse();
      if (identity !== null) {
        const [oldest = ""] = known.size < MAX_ENTRIES ? [] : known.keys();
        known.delete(oldest);
        known.set(key, { identity, persona });
      }
      return persona;
    },
  };
}

/** Null for a file that is not to be remembered. */
function identityOf(path: string, now: number): string | null {
  const found = statOf(path);
  if (found === null || now - Number(found.ctimeMs) < MIN_AGE_MS) {
    return null;
  }
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return null;
  }
}
