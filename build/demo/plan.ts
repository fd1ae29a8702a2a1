import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { FILES, PLAN_FILE, startScriptedModel } from "./scripted-model.ts";

/**
 * `npm run demo:plan`: makes a plan, runs it, kills the run, continues it and takes everything back, offline. A script
 * is in the place of the model. Ends with 1 if a step does not do what the page says of it.
 */
const PROGRAM = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

class Demo {
  readonly #folder = mkdtempSync(join(tmpdir(), "reprise-demo-"));
  readonly #home = mkdtempSync(join(tmpdir(), "reprise-home-"));
  readonly #env: Readonly<Record<string, string>>;
  #running: ChildProcess | null = null;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** Runs a command, shows it with its output, and checks how it ends. */
  async run(args: readonly string[], { code }: { readonly code: number | null }): Promise<Ended> {
    console.log(`\n$ reprise ${args.map(quoted).join(" ")}`);
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.#folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: this.#home, REPRISE_PLAIN: "1", ...this.#env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running = child;
    let output = "";
    const show = (bytes: Buffer): void => {
      output += bytes.toString();
      process.stdout.write(bytes);
    };
    child.stdout.on("data", show);
    child.stderr.on("data", show);
    const ended = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject).on("close", resolve);
    });
    if (ended !== code) {
      throw new Error(`The command ended with ${ended} and not with ${code}.`);
    }
    return { code: ended, output };
  }

  /** Ends the command that runs, as a power cut would. */
  kill(): void {
    console.log("\n--- kill -9 ---");
    this.#running?.kill("SIGKILL");
  }

  /** Returns which of the files of the phases are there. */
  files(): string[] {
    return Object.keys(FILES).filter((name) => existsSync(join(this.#folder, name)));
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    rmSync(this.#home, { recursive: true, force: true });
  }
}

function quoted(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : JSON.stringify(word);
}

/** Shows what a step has to bring about, and throws if it did not. */
function expectTrue(holds: boolean, what: string): void {
  console.log(`${holds ? "ok" : "NOT OK"}: ${what}`);
  if (!holds) {
    throw new Error(what);
  }
}

async function main(): Promise<void> {
  let demo: Demo | null = null;
  await using model = await startScriptedModel(async () => demo?.kill());
  console.log(
    "A script answers in the place of a model, on this machine only: no key, no network, no cost.",
  );
  demo = new Demo(model.env);
  try {
    await demo.run(["--plan", "--persona", "planner", "-p", "Plan notes with a list."], {
      code: 0,
    });
    await demo.run(["plan", "run", PLAN_FILE, "--dry-run"], { code: 0 });
    await demo.run(["plan", "run", PLAN_FILE, "--permission", "edits", "--approve", "review"], {
      code: null,
    });
    const { output } = await demo.run(["plan", "runs"], { code: 0 });
    const run = /^[0-9a-f]{8}/m.exec(output)?.[0] ?? "";
    await demo.run(["plan", "status", run], { code: 0 });
    await demo.run(["plan", "resume", run], { code: 7 });
    expectTrue(
      demo.files().length === 2,
      "the run has continued, written both files, and asks a person",
    );
    await demo.run(["sessions", "answer", run, "approve"], { code: 0 });
    const done = await demo.run(["plan", "resume", run], { code: 0 });
    expectTrue(done.output.includes("3 of 3 phases done"), "all phases are done");
    expectTrue(model.asked("store") === 2, "the phase store was not run again after the kill");
    await demo.run(["plan", "report", run], { code: 0 });
    await demo.run(["sessions", "undo", run], { code: 0 });
    expectTrue(demo.files().length === 0, "undo took back what all phases wrote");
    await demo.run(["sessions", "verify"], { code: 0 });
    expectTrue(model.refusals().length === 0, "the server refused no request");
  } finally {
    demo.end();
  }
}

await main();
