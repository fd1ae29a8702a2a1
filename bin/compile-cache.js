// not by import: see build/builtins.ts
const { existsSync, mkdirSync, statSync } = process.getBuiltinModule("node:fs");
const { enableCompileCache } = process.getBuiltinModule("node:module");
const { dirname, join } = process.getBuiltinModule("node:path");

/**
 * Keeps compiled code between starts, which halves their time. Who can write to that folder
 * controls this program, so it is in the user's own cache (`XDG_CACHE_HOME`, else `~/.cache`) and
 * not in the shared folder for temporary files, the default of Node.js. It is not used unless it
 * and its parent folders belong to this user and only this user may write to them: with `sudo` the
 * home may be another user's, who could not use files of root. Without it the program is compiled
 * at each start.
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
    // the home is not writable: the program is slower without a cache, but works
  }
}

/** Creates the folder if it is missing, but not in another user's folder. */
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
