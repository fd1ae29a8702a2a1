import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { startProvider } from "../helpers/providers/start.ts";
import { reasoning, text } from "../helpers/providers/steps.ts";
import { freshHome } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";

it.each([true, false])(
  "[PREFIX-11] import says that reasoning may be left out, if there is any: %s",
  async (reasons) => {
    const words = '"type":"thinking" is what a person wrote';
    const provider = await startProvider("anthropic", () => [
      ...(reasons ? [reasoning("Hm.")] : []),
      text("answer"),
    ]);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const home = freshHome({ ...provider.env, REPRISE_MODEL: "anthropic:claude-sonnet-5-5" });
    expect((await home.call(["-p", words])).code).toBe(0);
    const [session] = await sessionsOf(home);
    const file = join(home.home, "session.json");
    const exported = await home.call(["sessions", "export", session?.id ?? ""]);
    writeFileSync(file, exported.stdout);
    const { code, stderr } = await home.call(["sessions", "import", file, "--new-ids"]);
    expect([code, stderr.includes("earlier reasoning is sent")]).toEqual([0, reasons]);
  },
);
