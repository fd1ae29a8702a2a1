import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What the page is made of, in the checkout. */
const SOURCES = [
  "build/page.ts",
  "build/page-bundle.ts",
  "package-lock.json",
  "src/client",
  "src/core",
  "src/entries/client.ts",
  "web",
];

/**
 * `node build/page.ts`, which `npm start` runs: makes `dist/page/` if the sources changed. The bundler is loaded
 * only then.
 */
async function main(): Promise<void> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const folder = join(root, "dist/page");
  const digest = digestOf(root);
  const file = join(folder, "sources.sha256");
  if (existsSync(file) && readFileSync(file, "utf8") === digest) {
    return;
  }
  const { buildPage } = await import("./page-bundle.ts");
  // beside its place: a service that starts now finds the old page or the new one
  const made = join(root, `dist/page-${process.pid}`);
  try {
    await buildPage(root, made);
    writeFileSync(join(made, "sources.sha256"), digest);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  } catch (error) {
    // another start has made the same page meanwhile
    if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) {
      throw error;
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function digestOf(root: string): string {
  const hash = createHash("sha256");
  for (const file of SOURCES.flatMap((source) => filesIn(root, source))) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

function filesIn(root: string, source: string): string[] {
  if (/\.\w+$/.test(source)) {
    return [source];
  }
  return readdirSync(join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Error && "syscall" in error)) {
    throw error;
  }
  // a checkout that its user cannot write to, or a full disk: everything but the page works
  console.error(`The web page cannot be built: ${error.message}`);
}
