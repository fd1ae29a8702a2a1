import { parseArgs } from "node:util";

/** The benches by name; each module is loaded only when its turn comes. */
const BENCHES = {
  exchanges: () => import("./exchanges.ts"),
  plan: () => import("./plan.ts"),
} as const;

/**
 * `npm run bench -- [name…] [--json] [--size N]`: the named benches, or all, one after another.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: "boolean", default: false }, size: { type: "string" } },
  });
  const known = Object.keys(BENCHES);
  const unknown = positionals.filter((name) => !known.includes(name));
  const size = values.size === undefined ? undefined : Number(values.size);
  if (unknown.length > 0 || (size !== undefined && !(Number.isInteger(size) && size > 0))) {
    console.error(`Name one of: ${known.join(", ")}; --size takes a whole number above 0.`);
    return 2;
  }
  for (const [name, load] of Object.entries(BENCHES)) {
    if (positionals.length === 0 || positionals.includes(name)) {
      const { run } = await load();
      await run({ json: values.json, ...(size === undefined ? {} : { size }) });
    }
  }
  return 0;
}

process.exitCode = await main();
