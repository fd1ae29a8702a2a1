import { expect, it } from "vitest";

import { describeEngine } from "../helpers/engines.ts";
import { patchedProgram } from "../helpers/patched-program.ts";
import { randomOf, seedOf } from "../helpers/random.ts";
import { tortureExchanges } from "./exchanges/run.ts";

describeEngine("nodes in which a safeguard is missing", (engine) => {
  it("without the mark of begun calls, one takes effect twice, and it is seen", async () => {
    const program = await patchedProgram("queue-node.ts", [
      [/(function keepStart(?:\$\d+)?\(at, run, start\) \{)/, "$1 return Promise.resolve();"],
    ]);
    const torture = tortureExchanges({
      database: await engine.create(),
      random: randomOf(seedOf("exchanges")),
      plan: ["tool:after"],
      nodesIn: () => 1,
      sessions: 2,
      backlog: 2,
      kinds: ["pay"],
      program,
    });
    expect(await seen(torture)).toContain("calls that took effect twice");
  });

  it("[QUEUE-35] without the epoch of the lease, a node that was frozen gives back another's, and it is seen", async () => {
    const program = await patchedProgram("queue-node.ts", [
      [/\.where\("lease_epoch", "=", fence\.epoch\)(?=\.where\("lease_owner", "is not")/, ""],
      [/\.where\("lease_epoch", "=", given\("epoch"\)\)(?=\.where\("lease_owner", "is not")/, ""],
    ]);
    const torture = tortureExchanges({
      database: await engine.create(),
      random: randomOf(seedOf("exchanges")),
      plan: Array.from({ length: 8 }, () => "suspend"),
      nodesIn: () => 1,
      sessions: 2,
      backlog: 2,
      kinds: ["twice"],
      program,
    });
    expect(await seen(torture)).toMatch(
      /which node-\d+ runs|processes that died with it|its state/,
    );
  });
});

/** What the oracle says. */
async function seen(torture: Promise<string>): Promise<string> {
  const failure = await torture.then(
    (figures) => `nothing in ${figures}`,
    (error: unknown) => String(error),
  );
  console.log(failure.slice(0, 1000));
  return failure;
}
