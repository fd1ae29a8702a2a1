import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { testSize } from "../../helpers/size.ts";
import { sandboxHome } from "./run-confined.ts";

const sandbox = await sandboxHome();
afterAll(() => sandbox[Symbol.dispose]());

describe.skipIf(sandbox.reason !== null)("a command that makes very many files", () => {
  const { folder, run } = sandbox;

  it("[SANDBOX-10] [SANDBOX-35] hides nothing among them that git or a shell would run", async () => {
    const count = testSize("many-files");
    const evil =
      "for n in 1 2 3; do mkdir -p zz/$n/.git; touch zz/$n/.envrc; done; touch aa/.envrc";
    const line = `mkdir aa; seq -f 'aa/%.0f' ${count} | xargs touch; ${evil}`;
    const { ended, notes } = await run(line, { limits: { files: 2 * count } });
    expect(ended).toBeNull();
    expect(existsSync(join(folder, `aa/${count}`))).toBe(true);
    const hidden = ["aa/.envrc", ...[1, 2, 3].flatMap((n) => [`zz/${n}/.git`, `zz/${n}/.envrc`])];
    expect(hidden.filter((path) => existsSync(join(folder, path)))).toEqual([]);
    expect(hidden.filter((path) => !notes.join().includes(path))).toEqual([]);
    expect(notes.join()).not.toContain("WARNING");
  });
});
