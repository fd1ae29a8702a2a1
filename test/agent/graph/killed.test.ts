import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { answerRepeat } from "../../helpers/answer-repeat.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { expectVerified } from "../../helpers/verified.ts";

describeEngine("a process that is killed under a foreign graph", (engine) => {
  it("[GRAPH-18] [GRAPH-10] leaves a session that another process continues, and repeats no unsafe call", async () => {
    const { location, reprise, id } = await openOn(engine);
    const paid = join(temporaryFolder(), "paid");
    const killed = startProgram("graph-run.ts", [location, id, "buy", paid, "stuck"]);
    await killed.waitFor(/paid 0\.1/);
    await expect(
      startProgram("graph-run.ts", [location, id, "", paid]).finished,
    ).resolves.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("session_busy") as string,
    });
    await killed.stop();
    expect(await reprise.sessions.get(id)).toMatchObject({ activity: "interrupted" });
    await expectVerified(location, id);

    const next = await startProgram("graph-run.ts", [location, id, "", paid]).finished;
    expect(next.stdout).toContain('{"state":"done","answer":"answered buy"}');
    const payments = readFileSync(paid, "utf8").trim().split("\n");
    expect(payments).toEqual(["0.0", "0.1", "0.2"]);
    const { messages } = await reprise.sessions.get(id);
    expect(messages.map(({ role, content }) => (role === "tool" ? content : role))).toEqual([
      "user",
      "assistant",
      "paid 0.0",
      "assistant",
      OUTCOME_UNKNOWN,
      "assistant",
      "paid 0.2",
      "assistant",
    ]);
    await expectVerified(location, id);
  });

  it("[GRAPH-18] skips what was interrupted if the next process sends a message", async () => {
    const { location, reprise, id } = await openOn(engine);
    const paid = join(temporaryFolder(), "paid");
    const killed = startProgram("graph-run.ts", [location, id, "buy", paid, "stuck"]);
    await killed.waitFor(/paid 0\.1/);
    await killed.stop();
    const next = await startProgram("graph-run.ts", [location, id, "more", paid]).finished;
    expect(next.stdout).toContain('{"state":"done","answer":"answered more"}');
    const { messages } = await reprise.sessions.get(id);
    expect(messages.slice(3, 7).map(({ role }) => role)).toEqual([
      "assistant",
      "tool",
      "user",
      "assistant",
    ]);
    await expectVerified(location, id);
  });
});

/** Those that differ most come first. */
const KINDS = [
  "subgraph",
  "an asynchronous graph",
  "invoked",
  "direct",
  "other callbacks",
  "other metadata",
  "a queue with the config",
];

describeEngine("a process that is killed while a foreign graph runs a tool", (engine) => {
  it.each(KINDS.slice(0, testSize("graph-kinds")))(
    "[GRAPH-25] [GRAPH-26] [GRAPH-47] repeats no tool within the graph's node without a yes: %s",
    async (kind) => {
      const { location, id } = await openOn(engine);
      const paid = join(temporaryFolder(), "paid");
      const killed = startProgram("graph-kill.ts", [location, id, kind, "pay it", paid, "stuck"]);
      await killed.waitFor(/paid/);
      await killed.stop();
      const refused = startProgram("graph-kill.ts", [location, id, kind, "", paid, "no"]);
      await expect(refused.finished).resolves.toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("exchange_interrupted") as string,
      });
      expect(readFileSync(paid, "utf8")).toBe("unasked\n");
      const run = () => startProgram("graph-kill.ts", [location, id, kind, "", paid, "ask"]);
      expect((await run().finished).stdout).toContain('{"state":"waiting","answer":""}');
      expect(await answerRepeat(location, id, "again")).toEqual(["pay"]);
      const agreed = await run().finished;
      expect(agreed.stdout).toContain('{"state":"done","answer":"done: paid"}');
      expect(readFileSync(paid, "utf8")).toBe("unasked\nunasked\n");
      await expectVerified(location, id);
    },
  );

  it("[GRAPH-29] [GRAPH-10] keeps the answer of a person, and what was run with it", async () => {
    const { location, reprise, id } = await openOn(engine);
    const paid = join(temporaryFolder(), "paid");
    const args = (text: string, mode: string) => [location, id, "ask", text, paid, mode];
    await startProgram("graph-kill.ts", args("pay it", "no")).finished;
    const killed = startProgram("graph-kill.ts", args("answer:yes", "stuck"));
    await killed.waitFor(/paid/);
    await killed.stop();
    const next = await startProgram("graph-kill.ts", args("", "ask")).finished;
    expect(next.stdout).toContain('{"state":"waiting","answer":""}');
    expect(await answerRepeat(location, id, "skip")).toEqual(["pay"]);
    await startProgram("graph-kill.ts", args("", "ask")).finished;
    expect(readFileSync(paid, "utf8")).toBe("yes\n");
    const { messages } = await reprise.sessions.get(id);
    expect(messages.at(-2)?.content).toBe(OUTCOME_UNKNOWN);

    await startProgram("graph-kill.ts", args("pay again", "no")).finished;
    const again = startProgram("graph-kill.ts", args("answer:sure", "stuck"));
    await again.waitFor(/paid/);
    await again.stop();
    const agreed = await startProgram("graph-kill.ts", args("", "yes")).finished;
    expect(agreed.stdout).toContain('{"state":"done","answer":"done: paid"}');
    expect(readFileSync(paid, "utf8")).toBe("yes\nsure\nsure\n");
    await expectVerified(location, id);
  });
});
