import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { publint } from "publint";
import { formatMessage } from "publint/utils";

import { tryCommands } from "./check/commands.ts";
import { tryLibrary } from "./check/library.ts";
import { tryPeers } from "./check/peers.ts";
import { run } from "./check/run.ts";

/**
 * `npm run check:package`: packs the package, puts it into an empty folder and uses it there: every
 * command, the public API, its types; then asks publint and attw. What the package depends on is
 * linked from this checkout's own node_modules; with `--install` npm installs it from the registry
 * instead. What is tried with LangGraph is always installed, as its oldest and newest versions are.
 */
async function main(): Promise<void> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const work = mkdtempSync(join(tmpdir(), "reprise-package-"));
  try {
    const tarball = pack(root, work);
    const folder = join(work, "app");
    if (process.argv.includes("--install")) {
      npm(["install", "--no-audit", "--no-fund", tarball, "@types/node@24"], folder);
    } else {
      unpack(root, { tarball, folder });
    }
    const installed = join(folder, "node_modules/reprise");
    const { version } = manifest(installed);
    const bin = join(installed, "bin/reprise.js");
    const places = { home: join(work, "home"), project: join(work, "project") };
    const node = process.execPath;
    await tryCommands({ bin, node, version, ...places });
    console.log("every command works");
    tryLibrary(folder, { root, node, typescript: join(root, "node_modules/typescript/bin/tsc") });
    console.log(
      "the programs of docs/library.md work, with the types of nodenext, node16 and bundler",
    );
    await lint(installed);
    run([node, join(root, "node_modules/.bin/attw"), tarball, "--profile", "esm-only"], {
      cwd: work,
      env: { HOME: work, PATH: dirname(node) },
    });
    console.log("publint and attw find nothing");
    await tryPeers({ root, tarball, work: join(work, "peers"), node, npm });
  } finally {
    rmSync(work, { recursive: true });
  }
}

function pack(root: string, work: string): string {
  const packed = npm(["pack", "--json", "--pack-destination", work], root);
  const answer: unknown = JSON.parse(packed.slice(packed.search(/^[[{]/m)));
  const [{ filename, size, unpackedSize, entryCount }] = Object.values(answer ?? {});
  console.log(`${filename}: ${entryCount} files, ${size} bytes, ${unpackedSize} unpacked`);
  return join(work, filename);
}

function unpack(root: string, { tarball, folder }: { tarball: string; folder: string }): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  run(["tar", "-xzf", tarball, "-C", modules], { cwd: folder, env: {} });
  cpSync(join(modules, "package"), join(modules, "reprise"), { recursive: true });
  rmSync(join(modules, "package"), { recursive: true });
  const { dependencies } = manifest(join(modules, "reprise"));
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
}

/** In the developer's own environment (registry, certificates), but for what `npm run` put there. */
function npm(args: readonly string[], cwd: string): string {
  mkdirSync(cwd, { recursive: true });
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  const env = Object.fromEntries(own.map(([name, value = ""]) => [name, value]));
  return run(["npm", ...args], { cwd, env }).stdout;
}

async function lint(folder: string): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: folder, strict: true, pack: false });
  const [first] = messages;
  if (first !== undefined) {
    throw new Error(formatMessage(first, pkg) ?? first.code);
  }
}

function manifest(folder: string): { version: string; dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

await main();
