import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { sandboxHome } from "./run-confined.ts";

const SETUID_OR_SETGID = 0o6000;

const sandbox = await sandboxHome();
afterAll(() => sandbox[Symbol.dispose]());

describe.skipIf(sandbox.reason !== null)("a command in the sandbox", () => {
  const { folder, run } = sandbox;

  /** Runs a line in an empty folder, and returns the names there whose mode has one of the bits. */
  const left = async (line: string): Promise<readonly string[]> => {
    const at = join(folder, "tried");
    rmSync(at, { recursive: true, force: true });
    mkdirSync(at);
    await run(`cd tried; ${line}`);
    return readdirSync(at).filter(
      (name) => (statSync(join(at, name)).mode & SETUID_OR_SETGID) !== 0,
    );
  };

  const node = (script: string) => `'${process.execPath}' -e '${script}'`;

  it.each([
    ["chmod 4755", "cp /bin/cat a; chmod 4755 a"],
    ["chmod g+s", "cp /bin/cat a; chmod g+s a"],
    ["install -m 6755", "install -m 6755 /bin/cat a"],
    ["a new file that is opened with the mode", node(`fs.openSync("a", "w", 0o4777)`)],
    ["a new file of a descriptor", node(`fs.fchmodSync(fs.openSync("a", "w"), 0o4755)`)],
    ["a named pipe", "mkfifo -m 4755 a"],
    ["a folder", "mkdir -m 2755 a"],
  ])("[SANDBOX-50] leaves no setuid or setgid bit by %s", async (_, line) => {
    expect(await left(line)).toEqual([]);
  });

  it("[SANDBOX-50] leaves none by a copy, an archive or a change of a program that has one", async () => {
    const program = join(folder, "program");
    cpSync("/bin/cat", program);
    chmodSync(program, 0o4755);
    const lines = [
      "cp -p ../program a",
      "cp -a ../program a",
      "tar -C .. -cf - program | tar -xpf -",
      "mv ../program a; echo x >>a",
    ];
    for (const line of lines) {
      expect(await left(line), line).toEqual([]);
    }
  });

  it("[SANDBOX-50] sets other modes as it likes", async () => {
    const { code, output } = await run(
      `mkdir -m 1777 sticky && cp /bin/cat mine && chmod 0755 mine && chmod a-x mine && install -m 700 mine other
      install -d -m 750 made && tar -cf a.tar mine made && tar -xpf a.tar && mkfifo pipe && mktemp -p . && cp -a made again`,
    );
    expect(output).toMatch(/^\.\/tmp\.\w+\n$/);
    expect(code).toBe(0);
  });

  it("[SANDBOX-5] lists the interfaces of its network, as servers do at their start", async () => {
    const list = "console.log(Object.keys(os.networkInterfaces()))";
    expect((await run(node(list))).output).toBe("[ \u0027lo\u0027 ]\n");
  });
});
