import { expect, it } from "vitest";

import { validateArtifact } from "../../src/index.ts";
import { project, SLOW_SCHEMA } from "../helpers/artifacts/projects.ts";
import { plan } from "../helpers/artifacts/plans.ts";

it("[SCHEMA-9] a program can check any artifact: a plan, one of the project, or one known by its id", async () => {
  const folder = project({ "slow.json": SLOW_SCHEMA });
  const text = JSON.stringify(plan());
  expect(await validateArtifact(text, { schema: "dev/phase-plan@1" })).toEqual({
    valid: true,
    findings: [],
  });
  const yaml = await validateArtifact("a: 1", { schema: "dev/spec@1", syntax: "yaml" });
  expect(yaml.findings.map(({ code }) => code)).toEqual(["missing_property", "schema_unpublished"]);
  const options = { schema: SLOW_SCHEMA.$id, project: folder };
  expect(await validateArtifact("1", options)).toMatchObject({
    valid: false,
    findings: [{ code: "wrong_type" }],
  });
  await expect(validateArtifact("1", { schema: SLOW_SCHEMA.$id })).rejects.toMatchObject({
    code: "schema_unknown",
  });
});
