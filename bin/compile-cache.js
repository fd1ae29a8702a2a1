// not by import: see build/builtins.ts
const { existsSync, mkdirSync, statSync } = process.getBuiltinModule("node:fs");
const { enableCompileCache } = process.getBuiltinModule("node:module");
const { dirname, join } = process.getBuiltinModule("node:path");

/**
 * Keeps compiled code between starts, which halves them. Whoever can write to that folder decides
 * what this program does, so it is in the user's own cache (`XDG_CACHE_HOME`, else `~/.cache`) and
 * not in the shared one for temporary files, where Node.js would put it; and it is left alone
 * unless it, and the folders around it, are this user's and nobody else may write to them: with
 * `sudo` the home may be another's, who could not use what root makes there. Without one the program
 * is compiled at each start.
 */
export function keepCompiledCode() {
  const { XDG_CACHE_HOME: cache, HOME: home, NODE_COMPILE_CACHE: chosen } = process.env;
  const base = cache?.startsWith("/") ? cache : home?.startsWith("/") ? join(home, ".cache") : null;
  if (chosen !== undefined || base === null) {
    return;
  }
  const own = join(base, "reprise");
  const folder = join(own, "compiled");
  try {
    if ([base, own, folder].every(isOnlyOurs)) {
      enableCompileCache(folder);
    }
  } catch {
    // a home that cannot be written: it is faster with a cache, and works without
  }
}

/** Makes the folder where it is missing, but not in a folder of somebody else. */
function isOnlyOurs(folder) {
  if (!existsSync(folder) && isOurs(statSync(dirname(folder)))) {
    mkdirSync(folder, { mode: 0o700 });
  }
  const found = statSync(folder);
  return isOurs(found) && (found.mode & 0o022) === 0;
}

function isOurs({ uid }) {
  return uid === process.getuid?.();
}
