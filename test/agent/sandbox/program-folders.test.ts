import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { findPrograms } from "../../../src/agent/sandbox/program-folders.ts";
import { sandboxHome } from "./run-confined.ts";

const sandbox = await sandboxHome();

it.skipIf(sandbox.reason !== null)(
  "[SANDBOX-25] a command starts programs of PATH that are below a private folder, and changes nothing there",
  async () => {
    onTestFinished(() => sandbox[Symbol.dispose]());
    const top = mkdtempSync("/tmp/reprise-programs-");
    onTestFinished(() => rmSync(top, { recursive: true, force: true }));
    const bin = join(top, "tools/bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(top, "beside"), "beside");
    writeFileSync(join(top, "tools/library"), "from a library");
    writeFileSync(join(bin, "hello"), `#!/bin/sh\ncat "${top}/tools/library"\n`);
    chmodSync(join(bin, "hello"), 0o755);
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    const line = `hello; echo x > ${bin}/new; cat ${top}/beside`;
    const { output } = await sandbox.run(line, { env });
    expect(output).toContain("from a library");
    expect(output).toMatch(/new: Read-only file system/);
    expect(output).toMatch(/beside: No such file/);

    const find = (path: string, hidden: string[] = [], folder = "/home/ada/p") =>
      findPrograms({
        path,
        folder,
        hidden: hidden.map((each) => ({ path: each, kind: "file" })),
        privateFolders: ["/tmp"],
        homes: [],
      });
    expect(await find(`${bin}:/usr/bin:/tmp:relative::/nowhere`)).toEqual([dirname(bin)]);
    expect(await find(bin, [join(top, "tools/key")])).toEqual([bin]);
    expect(await find(bin, [join(bin, "key")])).toEqual([]);
    expect(await find(bin, [top])).toEqual([]);
    expect(await find(bin, [], join(top, "tools/project"))).toEqual([bin]);
    expect(await find(bin, [], top)).toEqual([]);
  },
);
