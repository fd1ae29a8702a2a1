import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { databaseUrl, admin, startEmbedded } from "../../test/helpers/postgres-server.ts";
import { readLibraryPage } from "./documented.ts";
import { run } from "./run.ts";

export interface Peers {
  /** The package's root folder. */
  readonly root: string;
  readonly tarball: string;
  /** An empty folder to work in. */
  readonly work: string;
  readonly node: string;
  /** Runs npm in a folder. */
  npm(args: readonly string[], folder: string): string;
}

/** Versions by package: see `peers.json`. */
type Pins = Readonly<Record<string, string>>;

/**
 * Installs the package twice, with its oldest and with its newest tested peers and nothing else, and
 * there runs LangGraph's own suites on both databases and programs, whose types it compiles.
 */
export async function tryPeers({ root, tarball, work, node, npm }: Peers): Promise<void> {
  const { both, ...installs }: Record<string, Pins> = JSON.parse(
    readFileSync(join(root, "build/check/peers.json"), "utf8"),
  );
  const server = await startEmbedded();
  try {
    for (const [name, pins] of Object.entries(installs)) {
      const folder = join(work, name);
      cpSync(join(root, "test/fixtures/peers"), folder, { recursive: true });
      const dependencies = { ...pins, ...both, reprise: `file:${tarball}` };
      const manifest = { private: true, type: "module", dependencies };
      writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
      npm(["install", "--prefer-offline", "--no-audit", "--no-fund"], folder);
      await admin(server.url, `CREATE DATABASE ${name}`);
      const suites = tryOne({ root, folder, node, database: databaseUrl(server.url, name) });
      const versions = Object.entries(pins).map((pin) => pin.join(" "));
      console.log(`with the ${name} peers (${versions.join(", ")}): ${suites}`);
    }
  } finally {
    await server.stop();
  }
}

function tryOne({
  root,
  folder,
  node,
  database,
}: {
  readonly root: string;
  readonly folder: string;
  readonly node: string;
  readonly database: string;
}): string {
  const options = { cwd: folder, env: { HOME: folder, PATH: "/nowhere" } };
  const programs = { ...PRINTED, ...writeDocumented(root, folder) };
  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const compilerOptions = {
      module,
      moduleResolution,
      target: "es2024",
      lib: ["es2024", "esnext.disposable", "dom"],
      types: ["node"],
      strict: true,
      noEmit: true,
      // LangChain's own declarations do not compile without it
      skipLibCheck: true,
    };
    const files = Object.keys(programs);
    const settings = JSON.stringify({ compilerOptions, files });
    writeFileSync(join(folder, "tsconfig.json"), settings);
    run([node, join(root, "node_modules/typescript/bin/tsc")], options);
  }
  for (const [program, output] of Object.entries(programs)) {
    const { stdout } = run([node, program], options);
    if (stdout !== output) {
      throw new Error(`${program} printed ${stdout}`);
    }
  }
  const databases = join(folder, "databases");
  mkdirSync(databases);
  const env = { ...options.env, REPRISE_TEST_FOLDER: databases, REPRISE_TEST_POSTGRES: database };
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const { stdout } = run([node, vitest, "run", "--no-color"], { ...options, env });
  return /^\s*Tests\s+(.*)$/m.exec(stdout)?.[1] ?? stdout;
}

/** Writes the pages' programs that need LangChain. Returns the output of each, by its name. */
function writeDocumented(root: string, folder: string): Record<string, string> {
  const documented = readLibraryPage(root).programs.filter(({ withLangChain }) => withLangChain);
  return Object.fromEntries(
    documented.map(({ code, output }, index) => {
      const program = `documented-${index}.ts`;
      writeFileSync(join(folder, program), code);
      return [program, output];
    }),
  );
}

/** The programs of `test/fixtures/peers`, with the output of each. */
const PRINTED = {
  "program.ts": `[ 'one', '1: one', 'two', '3: two' ]
shutting_down
0
false
function
`,
  "parallel.ts": `sync [ 'planned', 'a1: yes', 'b1: done', 'd1: done', 'from outside 1' ]
async [ 'planned', 'a1: yes', 'b1: done', 'd1: done', 'from outside 1' ]
exit [ 'planned', 'a1: yes', 'b1: done', 'd1: done', 'from outside 1' ]
`,
  "killed.ts": "exchange_interrupted paid\n",
};
