import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";

import { quoted } from "../../core/text/shell-words.ts";

/** How this program was started. */
interface Started {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly program: { readonly node: string; readonly script: string };
}

/** With `--no`, npm never takes a package of this name from a registry. */
const NPX = "npx --no -- reprise";

/** The words that start this program again in the user's shell, in the same folder. */
export function startOf({ cwd, env, program }: Started): string {
  const script = resolve(program.script);
  const real = realPath(script);
  const path = pathOfShell(env);
  if (real === onPath(path, "reprise")) {
    return "reprise";
  }
  if (isUnderNpm(env) && real !== null && npxFinds(cwd).includes(real)) {
    return NPX;
  }
  const node = realPath(program.node) === onPath(path, "node") ? "node" : program.node;
  return `${quoted(node)} ${quoted(script)}`;
}

/** The commands in a sentence as they are started here: npx does not put `reprise` on the user's path. */
export function asStarted(started: Started, sentence: string): string {
  if (!isUnderNpm(started.env) || !sentence.includes("`reprise")) {
    return sentence;
  }
  const start = startOf(started);
  return sentence.replace(/(?<=`)reprise(?=[ `])/g, () => start);
}

/** npm, npx and others like them put folders of packages on the path, which the user's shell does not have. */
function pathOfShell(env: Started["env"]): string[] {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return isUnderNpm(env)
    ? folders.filter((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
    : folders;
}

function isUnderNpm(env: Started["env"]): boolean {
  return env["npm_config_user_agent"] !== undefined || env["npm_command"] !== undefined;
}

/**
 * Lists what npx would start in a folder without a registry: a package that is installed there, or the folder's own.
 */
function npxFinds(cwd: string): string[] {
  let folder = cwd;
  while (!["package.json", "node_modules"].some((name) => existsSync(join(folder, name)))) {
    const above = dirname(folder);
    if (above === folder) {
      return [];
    }
    folder = above;
  }
  return ["node_modules/.bin/reprise", "bin/reprise.js"].flatMap(
    (file) => realPath(join(folder, file)) ?? [],
  );
}

/** The real path of the program that a shell starts by this name, or null. */
function onPath(folders: readonly string[], name: string): string | null {
  return (
    folders.map((folder) => realPath(join(folder, name))).find((path) => path !== null) ?? null
  );
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
