import { Value } from "typebox/value";
import { expect, it, onTestFinished } from "vitest";

import { ExchangeEvent } from "../../src/exchange/events.ts";
import { startProvider } from "../helpers/providers/start.ts";
import { reasoning, text } from "../helpers/providers/steps.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";
import { openTerminal } from "../helpers/terminal.ts";

const MODEL = "anthropic:claude-sonnet-5-5";

/** A service whose model thinks until it is released. */
async function startThinking() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const provider = await startProvider("anthropic", () => [
    reasoning("let me "),
    reasoning("see"),
    { kind: "wait", until: promise },
    text("Hello."),
  ]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = homeOfNodes({ ...provider.env, REPRISE_MODEL: MODEL });
  const node = await startNode(home, []);
  const { id } = await node.client.createSession({});
  return { home, id, node, release: resolve };
}

it("[CLI-193] [EVENT-23] send --follow --json=events reports what the model of a service thinks", async () => {
  const { home, id, node, release } = await startThinking();
  const following = home.start(["send", id, "hi", "--follow", "--json=events"]);
  await following.waitFor(/"type":"reasoning"/);
  release();
  const { code, stdout } = await following.finished;
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  const events = lines.map((line) => Value.Parse(ExchangeEvent, JSON.parse(line)));
  const thought = events.flatMap((event) => (event.type === "reasoning" ? [event] : []));
  expect(thought.map((event) => event.text).join("")).toBe("let me see");
  const types = events.map(({ type }) => type).filter((type) => type !== "reasoning");
  expect(types).toEqual(["started", "message", "text", "message", "done"]);
  const answer = events.find(({ type }) => type === "text");
  expect(answer).toMatchObject({ message_id: thought[0]?.message_id, text: "Hello." });
  await node.service.stop("SIGTERM");
});

it("[CLI-322] send --follow shows on a terminal that the model of a service thinks", async () => {
  const { home, id, node, release } = await startThinking();
  const terminal = openTerminal(home, `reprise send ${id} hi --follow`);
  await terminal.shows(/· thinking…/);
  release();
  await terminal.shows(/· thought for \d+ s/);
  await terminal.shows(/Hello\./);
  const { code, screen } = await terminal.finished;
  expect(code).toBe(0);
  expect(screen).not.toContain("see");
  await node.service.stop("SIGTERM");
});

it("[CLI-360] a signal ends send --follow, not the exchange, and the command says so", async () => {
  const { home, id, node, release } = await startThinking();
  const following = home.start(["send", id, "hi", "--follow"]);
  await expect.poll(async () => (await node.client.getExchange(id, 1)).state).toBe("running");
  const { code, signal, stderr } = await following.stop("SIGINT");
  expect({ code, signal }).toEqual({ code: null, signal: "SIGINT" });
  expect(stderr).toContain(`The message stays queued for a service: exchange 1 of ${id}.`);
  expect(stderr).toContain(`reprise follow ${id}`);
  expect(stderr).toContain(`reprise stop ${id}`);
  release();
  await expect.poll(async () => (await node.client.getExchange(id, 1)).state).toBe("done");
  await node.service.stop("SIGTERM");
});
