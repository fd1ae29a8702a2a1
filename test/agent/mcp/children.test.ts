import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import type { NewSession } from "../../../src/store/records/sessions/create.ts";
import { setPlanMode } from "../../../src/store/records/sessions/change.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { hostile, notedIn, openMcp, runningOf } from "../../helpers/mcp.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** A session whose model delegates as many tasks as the message says; each sub-agent calls the one tool of a server. */
async function openDelegating(columns: NewSession, persona = "assistant") {
  const noted = join(temporaryFolder(), "noted");
  // once there is such a file, the hook denies
  const command = `test ! -e '${noted}.denies' || { echo too late >&2; exit 2; }`;
  const bench = await openMcp(
    { bad: hostile("sound", noted) },
    {
      columns,
      hasCommands: true,
      config: { hooks: { PreToolUse: [{ command, match: "Task", sandbox: false }] } },
      steps: (line) =>
        line.startsWith("task")
          ? [{ name: "bad__act" }]
          : Array.from({ length: Number(line) }, (_, at) => ({
              name: "delegate",
              args: { persona, task: `task ${at}` },
            })),
    },
  );
  return {
    ...bench,
    calls: () => notedIn(noted).filter((line) => line.startsWith("call")).length,
    denies: () => writeFileSync(`${noted}.denies`, ""),
    ends: () =>
      bench.events.flatMap((event) => (event.type === "tool_result" ? [event.status] : [])),
    sound: async () => {
      expect(bench.server.refused()).toEqual([]);
      expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
      expect(await runningOf(noted)).toEqual([]);
    },
  };
}

describe("a sub-agent and the tools of a server", () => {
  it("[MCP-141] asks as its parent would, once for each call, and what is denied is not called", async () => {
    const bench = await openDelegating({ permission: "ask" });
    expect((await bench.run({ text: "2" })).state).toBe("waiting");
    expect(bench.calls()).toBe(0);
    const first = await bench.answer("allow_once");
    expect(first?.text).toContain("May the agent run bad__act?");
    expect(first?.session_id).not.toBe(bench.id);
    expect((await bench.run()).state).toBe("waiting");
    expect(bench.calls()).toBe(1);
    await bench.answer("deny");
    expect((await bench.run()).answer).toContain("the user denied this call");
    expect(bench.calls()).toBe(1);
    await bench.sound();
  });

  it("[MCP-141] is denied them in planning mode, of its parent then or now, without a start", async () => {
    const bench = await openDelegating({ permission: "all", plan_mode: true });
    expect((await bench.run({ text: "1" })).answer).toContain("there is no tool of this name");
    expect(bench.calls()).toBe(0);
    await bench.sound();
    const asked = await openDelegating({ permission: "ask" });
    expect((await asked.run({ text: "1" })).state).toBe("waiting");
    await asked.answer("allow_once");
    await asked.store.write(setPlanMode, { id: asked.id, plan_mode: true });
    await asked.run();
    expect(asked.calls()).toBe(0);
    expect(JSON.stringify(asked.server.requests())).toContain(
      "denied by the rule *__* (parent session)",
    );
    await asked.sound();
  });

  it("[MCP-140] a sub-agent that had begun leaves an unknown outcome if a hook denies it afterwards", async () => {
    const bench = await openDelegating({ permission: "ask" });
    expect((await bench.run({ text: "1" })).state).toBe("waiting");
    await bench.answer("allow_once");
    bench.denies();
    const { answer } = await bench.run();
    expect(answer).toContain("denied by the hook");
    expect(answer).toContain("It may have taken effect or not");
    expect(bench.ends()).toEqual(["unknown"]);
    await bench.run({ text: "1" });
    expect(bench.ends()).toEqual(["unknown", "denied"]);
    expect(bench.calls()).toBe(0);
    await bench.sound();
  });

  it("[MCP-141] gets no tool that its persona or that of its parent does not have", async () => {
    const reviewed = await openDelegating({ permission: "all" }, "reviewer");
    expect((await reviewed.run({ text: "1" })).answer).toContain("there is no tool of this name");
    expect(reviewed.calls()).toBe(0);
    const bench = await openDelegating({ permission: "all", persona_name: "narrow" });
    mkdirSync(join(bench.repo, ".reprise/personas"), { recursive: true });
    writeFileSync(
      join(bench.repo, ".reprise/personas/narrow.md"),
      "---\nname: narrow\ndescription: delegates\ntools: [delegate]\n---\nBe brief.\n",
    );
    await bench.run({ text: "1" });
    expect(bench.calls()).toBe(0);
    await bench.sound();
  });
});
