import { expect, it } from "vitest";

import { validateArtifact, validatePhasePlan } from "../../src/index.ts";
import { startTestServer } from "../helpers/server.ts";
import { plan } from "../helpers/artifacts/plans.ts";
import { project } from "../helpers/artifacts/projects.ts";

const MARK = "\ufeff";
const JSON_PLAN = JSON.stringify(plan());
const YAML_FAULT = "runId: 7";

it("[PLAN-27] the library accepts a byte order mark, which takes no column", async () => {
  expect(validatePhasePlan(MARK + JSON_PLAN).plan).toEqual(plan());
  expect(validatePhasePlan(MARK + JSON_PLAN, { syntax: "yaml" }).valid).toBe(true);
  for (const [text, syntax] of [
    [YAML_FAULT, "yaml"],
    ['{"runId": 7}', "json"],
  ] as const) {
    const { findings } = validatePhasePlan(MARK + text, { syntax });
    expect(findings).toEqual(validatePhasePlan(text, { syntax }).findings);
    expect(findings.find(({ pointer }) => pointer === "/runId")).toMatchObject({
      line: 1,
      column: text.indexOf("7") + 1,
    });
  }
  expect(
    (await validateArtifact(`${MARK}{}`, { schema: "dev/review-finding-batch@1" })).valid,
  ).toBe(true);
});

it("[PLAN-27] the service and schema files accept a byte order mark too", async () => {
  const folder = project({ "note.json": `${MARK}{"$id": "team/note@1", "type": "object"}` });
  await using server = await startTestServer({ project: folder });
  const findings = async (body: object) => {
    const { json } = await server.call<{ findings: readonly object[] }>(
      "POST",
      "/api/artifacts/validate",
      { body },
    );
    return json.findings;
  };
  expect(await findings({ text: MARK + JSON_PLAN })).toEqual([]);
  expect(await findings({ text: MARK + YAML_FAULT, syntax: "yaml" })).toMatchObject([
    { code: "missing_property", line: 1, column: 1 },
    { code: "missing_property", line: 1, column: 1 },
    { code: "wrong_type", line: 1, column: 8 },
  ]);
  expect(await findings({ text: `${MARK}{}`, schema: "team/note@1" })).toEqual([]);
});
