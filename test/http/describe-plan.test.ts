import { afterAll, beforeAll, expect, it } from "vitest";

import { drawSvg } from "../../src/artifacts/plans/drawing/svg.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import type { Problem } from "../../src/core/schemas/schemas.ts";
import { lineOf, planCase } from "../helpers/artifacts/plan-cases.ts";
import { phase, plan, RUN_ID } from "../helpers/artifacts/plans.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

let t: TestServer;
let client: Client;
beforeAll(async () => {
  t = await startTestServer();
  client = createClient({ baseUrl: t.url });
});
afterAll(() => t[Symbol.asyncDispose]());

const PATH = "/api/artifacts/plan";

const TAGS = [
  phase({ key: "store", title: "Store <b>tags</b>" }),
  phase({
    key: "list",
    depends_on: ["store"],
    expected_artifact: { path: "docs/spec.json", schema: "dev/spec@1" },
  }),
  phase({ key: "check" }),
];

it("[PAGE-100] [PAGE-101] [PAGE-103] describes a valid plan", async () => {
  const {
    valid,
    findings,
    plan: found,
  } = await client.describePlan(
    JSON.stringify(plan({ phases: TAGS, estimated_duration_hours: 2 })),
  );
  expect([valid, findings]).toEqual([true, []]);
  expect(found).toEqual({
    run_id: RUN_ID,
    phase_key: "planning",
    estimated_duration_hours: 2,
    phases: [
      {
        key: "store",
        title: "Store <b>tags</b>",
        role: "assistant",
        wave: 1,
        depends_on: [],
        expected_artifact: null,
      },
      {
        key: "list",
        title: "Build",
        role: "assistant",
        wave: 2,
        depends_on: ["store"],
        expected_artifact: { path: "docs/spec.json", schema: "dev/spec@1" },
      },
      {
        key: "check",
        title: "Build",
        role: "assistant",
        wave: 1,
        depends_on: [],
        expected_artifact: null,
      },
    ],
    waves: [["check", "store"], ["list"]],
    longest_chain: ["store", "list"],
    picture: drawSvg({
      runId: RUN_ID,
      phaseKey: "planning",
      estimated_duration_hours: 2,
      phases: TAGS as never,
    }),
    boxes: expect.any(Array) as unknown[],
  });
  expect(found?.boxes.map(({ key }) => key).toSorted()).toEqual(["check", "list", "store"]);
  for (const { x, y, width, height } of found?.boxes ?? []) {
    const drawn = /translate\((\d+) (\d+)\)/.exec(found?.picture ?? "");
    const corner = `x="${x - Number(drawn?.[1])}" y="${y - Number(drawn?.[2])}"`;
    expect(found?.picture).toContain(`${corner} width="${width}" height="${height}"`);
  }
  expect(found?.picture).not.toContain("<b>");
});

it("[PAGE-100] answers with the findings of a JSON text and of a YAML text", async () => {
  for (const file of ["valid.json", "faulty.json", "text-yaml-faults.yml"]) {
    const { text, syntax } = planCase(file);
    const checked = await client.validateArtifact(text, { syntax });
    const described = await client.describePlan(text, { syntax });
    expect(described.findings.map(lineOf)).toEqual(checked.findings.map(lineOf));
    expect([described.valid, described.plan !== null]).toEqual([checked.valid, checked.valid]);
  }
  // a warning takes nothing away
  const warned = plan({ phases: [phase({ expected_artifact: { path: "/etc/x", schema: "?" } })] });
  const { valid, findings, plan: found } = await client.describePlan(JSON.stringify(warned));
  expect([valid, findings.map(({ severity }) => severity)]).toEqual([true, ["warning", "warning"]]);
  expect(found?.waves).toEqual([["build"]]);
});

it("[PAGE-100] refuses what `validate` refuses", async () => {
  const refused = async (body: unknown): Promise<string> => {
    const { status, json } = await t.call<Problem>("POST", PATH, { body });
    return `${status} ${json.code}`;
  };
  expect(await refused({ text: " ".repeat(1_048_577) })).toBe("413 body_too_large");
  expect(await refused({ text: " ".repeat(131_073), syntax: "yaml" })).toBe("413 body_too_large");
  for (const body of [
    {},
    { text: 1 },
    { text: "{}", syntax: "toml" },
    { text: "{}", schema: "x" },
  ]) {
    expect(await refused(body)).toBe("422 invalid_request");
  }
  expect(await refused("{")).toBe("400 malformed_json");
  const values = await client.describePlan(`[${"0,".repeat(99_999)}0]`);
  expect(values.findings.map(({ code }) => code)).toEqual(["too_many_values"]);
});

it.each([
  ["400 phases", 400, () => [], ""],
  ["1,999 dependencies", 63, (at: number) => range(at), ""],
  ["long titles", 100, () => [], "t".repeat(2900)],
])("[PAGE-102] draws %s", async (_name, size, dependsOn, title) => {
  expect((await described(size, dependsOn, title)).picture).toContain("</svg>");
});

it.each([
  ["more phases", 401, () => [], ""],
  ["more dependencies", 64, (at: number) => range(at), ""],
  ["longer titles", 100, () => [], "t".repeat(3000)],
  ["dependencies between long keys", 40, (at: number) => range(at), "key"],
])(
  "[PAGE-102] draws no picture of %s, and gives the rest",
  async (_name, size, dependsOn, title) => {
    const found = await described(size, dependsOn, title);
    expect([found.picture, found.boxes, found.phases.length]).toEqual([null, [], size]);
  },
);

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

async function described(size: number, dependsOn: (at: number) => number[], title: string) {
  const keyOf = (at: number): string => `k${at}${title === "key" ? "-".repeat(300) : ""}`;
  const phases = range(size).map((at) =>
    phase({
      key: keyOf(at),
      title: title === "" ? "Build" : title,
      depends_on: dependsOn(at).map(keyOf),
    }),
  );
  const { plan: found } = await client.describePlan(JSON.stringify(plan({ phases })));
  if (found === null) {
    throw new TypeError("the plan is not valid");
  }
  return found;
}

it("[PAGE-103] reads what the node has counted, and needs the token for it", async () => {
  expect(await client.readMetrics()).toContain("reprise_build_info");
  await using guarded = await startTestServer({ token: "secret" });
  const stranger = createClient({ baseUrl: guarded.url });
  for (const call of [() => stranger.readMetrics(), () => stranger.describePlan("{}")]) {
    await expect(call()).rejects.toMatchObject({ code: "unauthorized" });
  }
});
