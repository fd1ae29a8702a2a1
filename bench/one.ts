import { BENCHES } from "./benches.ts";

/** One bench in this process: `node bench/one.ts <name> <scale>` prints its measurements as JSON. */
const [name = "", scale = "1"] = process.argv.slice(2);
const bench = await BENCHES[name]?.load();
if (bench === undefined) {
  throw new Error("there is no bench of this name");
}
const measurements = await bench.run({ scale: Number(scale) });
process.stdout.write(JSON.stringify(measurements));
