import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { run } from "./plan-program.ts";

it("prints the schema byte for byte", async () => {
  const file = new URL("../../schemas/dev/phase-plan@1.json", import.meta.url);
  expect(await run(["schema", "dev/phase-plan@1"])).toEqual({
    code: 0,
    stdout: await readFile(file, "utf8"),
    stderr: "",
  });
});

it("refuses an unknown id, naming the known ones and not the one asked for", async () => {
  const { code, stdout, stderr } = await run(["schema", "dev/phase-plan@2"]);
  expect([code, stdout]).toEqual([3, ""]);
  for (const id of ["dev/phase-plan@1", "dev/spec@1", "common/final-report@1"]) {
    expect(stderr).toContain(id);
  }
  expect(stderr).not.toContain("dev/phase-plan@2");
});

it.each(["dev/spec@1", "dev/review-finding-batch@1", "common/final-report@1"])(
  "says of %s that it is known and was never published",
  async (id) => {
    const { code, stdout, stderr } = await run(["schema", id]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain(`The id ${id} is known, but its fields were never published`);
  },
);

it("lists the known ids when none is given", async () => {
  const { code, stdout } = await run(["schema"]);
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
    "dev/phase-plan@1",
    "dev/spec@1",
    "dev/review-finding-batch@1",
    "common/final-report@1",
    "",
  ]);
});
