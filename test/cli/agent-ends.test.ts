import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const ASKING = fileURLToPath(new URL("../fixtures/agents/asking.js", import.meta.url));
const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

describe("reprise --agent with a module that ends the process, or keeps it open", () => {
  it("[GRAPH-48] ends as failed if the agent ends the process while it runs", async () => {
    const home = freshHome();
    const folder = temporaryFolder();
    symlinkSync(PACKAGES, join(folder, "node_modules"));
    const file = join(folder, "exiting.mjs");
    writeFileSync(
      file,
      `import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
      export default new StateGraph(MessagesAnnotation)
        .addNode("end", () => process.exit(0)).addEdge(START, "end").compile();`,
    );
    const ended = (...more: string[]) => home.run(["--agent", file, "-p", "hi", ...more]);
    expect(await ended()).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/process\.exit.*\[agent_failed\]\n$/) as string,
    });
    const json = await ended("--json");
    expect([json.code, JSON.parse(json.stderr)]).toMatchObject([1, { code: "agent_failed" }]);
    const { code, stdout } = await ended("--json=events");
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; session_id: string });
    expect([code, events.at(-1)]).toMatchObject([1, { type: "failed", code: "agent_failed" }]);
    const id = events[0]?.session_id ?? "";
    const { stdout: shown } = await home.call(["sessions", "show", id, "--json"]);
    expect(JSON.parse(shown)).toMatchObject({ activity: "interrupted" });
  });

  it("[GRAPH-40] ends when its work is done, and says why if the agent's module ends it earlier", async () => {
    const home = freshHome();
    const folder = temporaryFolder();
    const write = (file: string, code: string) => {
      writeFileSync(join(folder, file), code);
      return ["--agent", join(folder, file)];
    };
    symlinkSync(PACKAGES, join(folder, "node_modules"));
    const open = "setInterval(() => {}, 1000);";
    const keeping = write(
      "keeping.mjs",
      `import { agent } from ${JSON.stringify(ASKING)}; ${open} export default agent;`,
    );
    expect(await home.run([...keeping, "-p", "hi"])).toMatchObject({ code: 0, stdout: "done\n" });
    expect(await home.run([...keeping, "-p", "fail"])).toMatchObject({ code: 1, stdout: "" });
    for (const [code, reason] of [
      ["process.exit();", /ended the program while it was loaded.*\[agent_failed\]\n$/],
      ["await new Promise(() => {});", /never finishes loading.*\[agent_failed\]\n$/],
    ] as const) {
      const ended = await home.run([...write("ending.mjs", code), "-p", "hi"]);
      expect(ended).toMatchObject({ code: 1, stdout: "" });
      expect(ended.stderr).toMatch(reason);
    }
  });
});
