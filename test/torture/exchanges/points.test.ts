import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createSession } from "../../../src/store/records/sessions/create.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { trustFolder } from "../../helpers/trust.ts";
import { Clients } from "./clients.ts";
import { Nodes } from "./nodes.ts";
import { POINT_NAMES } from "./plan.ts";
import { selectOpen, selectQuestions } from "./rows.ts";
import { until } from "./until.ts";

describeEngine("the points at which nodes are killed", (engine) => {
  it("are all reached, so that no round waits for one in vain", async () => {
    const { location, open } = await engine.create();
    const store = await open();
    const home = freshHome();
    trustFolder(home.home, home.project);
    const effects = join(temporaryFolder(), "effects");
    writeFileSync(effects, "");
    const nodes = new Nodes({ store, location, home, effects });
    // neither changes nor stops a message, and sends each answer once
    const clients = new Clients(nodes, () => 0.5);
    const { id } = await store.write(createSession, {
      repo_path: home.project,
      permission: "all",
    });

    const first = await nodes.start();
    // a sub-agent that asks, beside a call that takes effect
    await clients.send(id, { kinds: ["both"] });
    await until("the exchange to end", async () => {
      for (const question of await store.read(selectQuestions, null)) {
        if (question.state === "open") {
          await clients.answer(question);
        }
      }
      return (await store.read(selectOpen, null)).records.length === 0;
    });
    nodes.arm(first, "claim:after");
    await clients.send(id, { kinds: ["plain"] });
    await first.running.waitFor(/^at claim:after$/m);
    await nodes.kill(first);
    const second = await nodes.start();
    await second.running.waitFor(/^reached release:after$/m);
    await nodes.terminate(second);

    const written = `${first.running.stdout()}${second.running.stdout()}`;
    const reached = new Set(written.match(/(?<=^reached )\S+$/gm));
    expect(POINT_NAMES.filter((point) => !reached.has(point))).toEqual([]);
  });
});
