/** Phase plans at the borders of every rule, with what must be found: "code pointer". */
export interface PlanCase {
  readonly name: string;
  readonly document: unknown;
  readonly found: readonly string[];
}

type Fields = Record<string, unknown>;

const RUN_ID = "0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01";

/** A valid plan of the required properties; a field given as undefined is left out. */
export function plan(fields: Fields = {}): Fields {
  return { runId: RUN_ID, phaseKey: "planning", phases: [phase()], ...fields };
}

/** A valid phase of the required properties. */
export function phase(fields: Fields = {}): Fields {
  return { key: "build", title: "Build", role: "developer", instructions: "0123456789", ...fields };
}

function withPhase(fields: Fields): Fields {
  return plan({ phases: [phase(fields)] });
}

function artifact(expected_artifact: unknown): Fields {
  return withPhase({ expected_artifact });
}

function dependent(...depends: unknown[]): Fields {
  return plan({ phases: [phase(), phase({ key: "test", depends_on: depends })] });
}

function good(name: string, document: unknown): PlanCase {
  return { name, document, found: [] };
}

function bad(name: string, document: unknown, ...found: string[]): PlanCase {
  return { name, document, found };
}

const WRONG_FOR_STRING: [string, unknown][] = [
  ["null", null],
  ["a number", 7],
  ["a boolean", true],
  ["an array", []],
  ["an object", {}],
];

/** One string property of the wrong kinds, built into a plan by `make` and found at `pointer`. */
function strings(pointer: string, make: (value: unknown) => unknown): PlanCase[] {
  return WRONG_FOR_STRING.map(([kind, value]) =>
    bad(`${pointer} is ${kind}`, make(value), `wrong_type ${pointer}`),
  );
}

const ROOT: PlanCase[] = [
  good("only what is required", plan()),
  bad("an array", [], "wrong_type "),
  bad("null", null, "wrong_type "),
  bad("a string", "plan", "wrong_type "),
  bad("nothing", {}, "missing_property ", "missing_property ", "missing_property "),
  bad("no runId", plan({ runId: undefined }), "missing_property "),
  bad("no phaseKey", plan({ phaseKey: undefined }), "missing_property "),
  bad("no phases", plan({ phases: undefined }), "missing_property "),
  bad("an unknown property", plan({ notes: "" }), "unknown_property /notes"),
  bad("$schema is no property", plan({ $schema: "x" }), "unknown_property /$schema"),
  bad("a property to be escaped", plan({ "a/b~c": 1 }), "unknown_property /a~1b~0c"),
  bad("__proto__", plan({ ["__proto__"]: {} }), "unknown_property /__proto__"),
  bad("toString", plan({ toString: 1 }), "unknown_property /toString"),
];

const RUN_IDS: PlanCase[] = [
  good("UUID version 1", plan({ runId: "c232ab00-9414-11ec-b3c8-9f6bdeced846" })),
  good("UUID version 3", plan({ runId: "5df41881-3aed-3515-88a7-2f4a814cf09e" })),
  good("UUID version 4", plan({ runId: RUN_ID })),
  good("UUID version 5", plan({ runId: "2ed6657d-e927-568b-95e1-2665a8aea6a2" })),
  good("UUID version 7", plan({ runId: "017f22e2-79b0-7cc3-98c4-dc0c0c07398f" })),
  good("the nil UUID", plan({ runId: "00000000-0000-0000-0000-000000000000" })),
  good("a UUID in capitals", plan({ runId: RUN_ID.toUpperCase() })),
  ...[
    "",
    "x",
    RUN_ID.slice(1),
    `${RUN_ID}0`,
    ` ${RUN_ID}`,
    `${RUN_ID}\n`,
    `{${RUN_ID}}`,
    `urn:uuid:${RUN_ID}`,
    RUN_ID.replaceAll("-", ""),
    RUN_ID.replace("b", "g"),
  ].map((runId) =>
    bad(`runId ${JSON.stringify(runId)}`, plan({ runId }), "format_mismatch /runId"),
  ),
  ...strings("/runId", (runId) => plan({ runId })),
];

const TOP: PlanCase[] = [
  good("a phaseKey of one character", plan({ phaseKey: "p" })),
  good("a phaseKey that no phase has and no key could be", plan({ phaseKey: "A b" })),
  bad("an empty phaseKey", plan({ phaseKey: "" }), "too_short /phaseKey"),
  ...strings("/phaseKey", (phaseKey) => plan({ phaseKey })),
  good("no phase at all", plan({ phases: [] })),
  bad("phases is an object", plan({ phases: {} }), "wrong_type /phases"),
  bad("phases is null", plan({ phases: null }), "wrong_type /phases"),
  ...[0, 0.1, 1e6].map((hours) =>
    good(`${hours} hours`, plan({ estimated_duration_hours: hours })),
  ),
  good("-0 hours", plan({ estimated_duration_hours: -0 })),
  ...[-0.1, -1].map((hours) =>
    bad(
      `${hours} hours`,
      plan({ estimated_duration_hours: hours }),
      "below_minimum /estimated_duration_hours",
    ),
  ),
  ...["1", null, [], {}, true].map((hours) =>
    bad(
      `hours as ${JSON.stringify(hours)}`,
      plan({ estimated_duration_hours: hours }),
      "wrong_type /estimated_duration_hours",
    ),
  ),
];

const PHASES: PlanCase[] = [
  ...[null, "build", 1, []].map((value) =>
    bad(`a phase is ${JSON.stringify(value)}`, plan({ phases: [value] }), "wrong_type /phases/0"),
  ),
  ...["key", "title", "role", "instructions"].flatMap((name) => [
    bad(`a phase without ${name}`, withPhase({ [name]: undefined }), "missing_property /phases/0"),
    ...strings(`/phases/0/${name}`, (value) => withPhase({ [name]: value })),
  ]),
  bad("an unknown property of a phase", withPhase({ id: 1 }), "unknown_property /phases/0/id"),
  ...["a", "z", "a1", "a-", "a-b-2", "a--b"].map((key) => good(`key ${key}`, withPhase({ key }))),
  ...["", "A", "aB", "1a", "-a", "a_b", "a b", "a.b", "ä", "aä", "a\n"].map((key) =>
    bad(`key ${JSON.stringify(key)}`, withPhase({ key }), "pattern_mismatch /phases/0/key"),
  ),
  good("a title of one character", withPhase({ title: "T" })),
  bad("an empty title", withPhase({ title: "" }), "too_short /phases/0/title"),
  good("a role of one character", withPhase({ role: "r" })),
  bad("an empty role", withPhase({ role: "" }), "too_short /phases/0/role"),
  good("instructions of 10 characters", withPhase({ instructions: "0123456789" })),
  bad("of 9", withPhase({ instructions: "012345678" }), "too_short /phases/0/instructions"),
  bad("of none", withPhase({ instructions: "" }), "too_short /phases/0/instructions"),
  good("instructions of 10 emoji", withPhase({ instructions: "🙂".repeat(10) })),
  bad(
    "instructions of 9 emoji, 18 code units",
    withPhase({ instructions: "🙂".repeat(9) }),
    "too_short /phases/0/instructions",
  ),
];

const ARTIFACTS: PlanCase[] = [
  good("an expected artifact", artifact({ path: "a.json", schema: "dev/spec@1" })),
  good("one with empty strings", artifact({ path: "", schema: "" })),
  bad(
    "one without path",
    artifact({ schema: "dev/spec@1" }),
    "missing_property /phases/0/expected_artifact",
  ),
  bad(
    "one without schema",
    artifact({ path: "a.json" }),
    "missing_property /phases/0/expected_artifact",
  ),
  bad(
    "one with an unknown property",
    artifact({ path: "", schema: "", kind: "" }),
    "unknown_property /phases/0/expected_artifact/kind",
  ),
  ...["a.json", null, []].map((value) =>
    bad(
      `${JSON.stringify(value)} as expected artifact`,
      artifact(value),
      "wrong_type /phases/0/expected_artifact",
    ),
  ),
  ...strings("/phases/0/expected_artifact/path", (path) => artifact({ path, schema: "" })),
  ...strings("/phases/0/expected_artifact/schema", (schema) => artifact({ path: "", schema })),
];

const ON = "/phases/1/depends_on";

const DEPENDENCIES: PlanCase[] = [
  good("no dependency", dependent()),
  good("a dependency on an earlier phase", dependent("build")),
  good("one named twice, which the schema allows", dependent("build", "build")),
  good(
    "a dependency on a later phase",
    plan({ phases: [phase({ depends_on: ["test"] }), phase({ key: "test" })] }),
  ),
  ...["build", null, {}].map((value) =>
    bad(
      `depends_on ${JSON.stringify(value)}`,
      withPhase({ depends_on: value }),
      "wrong_type /phases/0/depends_on",
    ),
  ),
  ...strings(`${ON}/0`, (value) => dependent(value)),
  bad("an unknown phase", dependent("build", "buidl"), `unknown_dependency ${ON}/1`),
  bad("an empty name", dependent(""), `unknown_dependency ${ON}/0`),
  bad("the name in capitals", dependent("BUILD"), `unknown_dependency ${ON}/0`),
  bad("itself", dependent("test"), `self_dependency ${ON}/0`),
  bad(
    "a key given twice",
    plan({ phases: [phase(), phase({ key: "test" }), phase()] }),
    "duplicate_key /phases/2/key",
  ),
  bad(
    "a key given three times",
    plan({ phases: [phase(), phase(), phase()] }),
    "duplicate_key /phases/1/key",
    "duplicate_key /phases/2/key",
  ),
  bad(
    "two phases that wait for each other",
    plan({
      phases: [phase({ depends_on: ["test"] }), phase({ key: "test", depends_on: ["build"] })],
    }),
    `circular_dependency ${ON}/0`,
  ),
];

export const PLAN_CASES: readonly PlanCase[] = [
  ...ROOT,
  ...RUN_IDS,
  ...TOP,
  ...PHASES,
  ...ARTIFACTS,
  ...DEPENDENCIES,
];
