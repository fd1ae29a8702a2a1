import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createPlanCheck } from "../../../src/compose.ts";
import { createSession, type NewSession } from "../../../src/store/records/sessions/create.ts";
import { agentOptions, openBench } from "../../helpers/exchanger.ts";
import { type SentMessage, startModelServer } from "../../helpers/model-server.ts";

const RUN = "3f2c8a54-6f0e-4f6b-9d43-0b1f3c1e7a90";

function plan(change: object = {}): string {
  const phase = {
    key: "build",
    title: "Build",
    role: "assistant",
    instructions: "Build all of it.",
  };
  return JSON.stringify({ runId: RUN, phaseKey: "planning", phases: [phase], ...change });
}

/** The model hands in these, one answer each. */
async function openPlanning(contents: readonly string[], columns: NewSession = {}) {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const content = contents[messages.filter(({ role }) => role === "tool").length];
      return content === undefined
        ? { content: "planned" }
        : { toolCalls: [{ name: "hand_in_plan", arguments: JSON.stringify({ content }) }] };
    },
  });
  const bench = await openBench(server, {}, (store) => ({
    checkPlan: createPlanCheck(agentOptions(store).personas),
  }));
  const { id } = await bench.store.write(createSession, {
    repo_path: bench.repo,
    plan_mode: true,
    ...columns,
  });
  const folder = join(bench.repo, ".reprise/plans");
  return {
    ...bench,
    server,
    folder,
    files: () => (existsSync(folder) ? readdirSync(folder).sort() : []),
    results: () =>
      bench.events.flatMap((event) => (event.type === "tool_result" ? [event.content] : [])),
    run: () => bench.run({ session_id: id, text: "plan" }),
  };
}

describe("hand_in_plan", () => {
  it("[PERMISSION-76] [PERMISSION-77] returns findings with their places until the plan is valid, then stores it without a question", async () => {
    const wrong = plan({
      phases: [{ key: "a", title: "", role: "x", instructions: "Too short?", depends_on: ["b"] }],
    });
    const roles = plan({
      phases: [
        { key: "b", title: "B", role: "writer", instructions: "Do the second.", depends_on: ["a"] },
        { key: "a", title: "A", role: "assistant", instructions: "Do the first." },
      ],
    });
    const bench = await openPlanning([wrong, "{", roles]);
    expect((await bench.run()).state).toBe("done");
    const [first, second, third] = bench.results();
    expect(first).toMatch(/^Error: the plan is not valid and was not stored\./);
    expect(first).toMatch(/\n1:\d+ error .*\[too_short\]/);
    expect(first).toMatch(
      /\n1:\d+ error depends_on names the unknown phase "b".*\[unknown_dependency\]/,
    );
    expect(second).toMatch(/\[malformed_json\]/);
    expect(third).toMatch(
      new RegExp(
        `^the plan is stored as \\.reprise/plans/${RUN}\\.json: 2 phases in 2 waves\nwave 1: a\nwave 2: b\n1:\\d+ warning no persona has the role "writer".*\\[unknown_role\\]$`,
      ),
    );
    expect(bench.files()).toEqual([`${RUN}.json`]);
    const text = readFileSync(join(bench.folder, `${RUN}.json`), "utf8");
    expect(JSON.parse(text)).toEqual(JSON.parse(roles));
  });

  it("[PERMISSION-77] keeps each plan of a run, and stores one plan once", async () => {
    const other = plan({ estimated_duration_hours: 2 });
    const bench = await openPlanning([plan(), other, plan(), plan({ runId: RUN.toUpperCase() })]);
    mkdirSync(bench.folder, { recursive: true });
    writeFileSync(join(bench.folder, `${RUN}.json`), "of the user\n");
    await bench.run();
    expect(bench.files()).toEqual([
      `${RUN}-2.json`,
      `${RUN}-3.json`,
      `${RUN}-4.json`,
      `${RUN}.json`,
    ]);
    expect(readFileSync(join(bench.folder, `${RUN}.json`), "utf8")).toBe("of the user\n");
    expect(bench.results()[2]).toContain(`${RUN}-2.json`);
  });

  it("[PERMISSION-77] follows no link, and takes no other name than a UUID", async () => {
    const ids = [`urn:uuid:${RUN}`, "../../outside", `${RUN}/../../x`];
    const bench = await openPlanning([...ids.map((runId) => plan({ runId })), plan(), plan()]);
    const outside = join(bench.repo, "elsewhere");
    mkdirSync(outside);
    mkdirSync(join(bench.repo, ".reprise"));
    symlinkSync(outside, bench.folder);
    await bench.run();
    expect(bench.results().every((result) => result.startsWith("Error: "))).toBe(true);
    expect(readdirSync(outside)).toEqual([]);
    const linked = await openPlanning([plan()]);
    mkdirSync(linked.folder, { recursive: true });
    symlinkSync("../../target", join(linked.folder, `${RUN}.json`));
    await linked.run();
    expect(linked.files()).toEqual([`${RUN}-2.json`, `${RUN}.json`]);
    expect(existsSync(join(linked.repo, "target"))).toBe(false);
  });

  it("[PERMISSION-76] takes no plan out of planning mode", async () => {
    const bench = await openPlanning([plan({})], { plan_mode: false });
    await bench.run();
    expect(bench.files()).toEqual([]);
    expect(bench.server.requests().at(-1)?.at(-1)?.content).toContain(
      "planning mode, which is off",
    );
  });

  it("[PERMISSION-76] [PREFIX-3] is declared in a folder, to personas that have it, whatever the mode", async () => {
    const offered = async (columns: NewSession) => {
      const bench = await openPlanning([], columns);
      await bench.run();
      return bench.server.offeredTools().at(-1)?.includes("hand_in_plan");
    };
    expect(await offered({})).toBe(true);
    expect(await offered({ persona_name: "planner" })).toBe(true);
    expect(await offered({ persona_name: "reviewer" })).toBe(false);
    expect(await offered({ plan_mode: false })).toBe(true);
    expect(await offered({ repo_path: null })).toBe(false);
  });
});
