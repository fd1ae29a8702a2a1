import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { startEditor } from "../helpers/editor.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";

const SOURCES = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));
const PRELOAD = fileURLToPath(new URL("../fixtures/programs/loaded-modules.ts", import.meta.url));

async function homeThatAsks(args: object) {
  const server = await startModelServer({
    answer: (messages, index) =>
      index === 0
        ? { toolCalls: [{ name: "ask_user", arguments: JSON.stringify(args), id: "q" }] }
        : { content: `heard ${messages.at(-1)?.content}` },
  });
  return { server, home: freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" }) };
}

const CHOICES = { question: "Which colour?", choices: ["red", "blue"] };
const TEXT = { question: "Which name?" };

describe("the agent's question in an editor", () => {
  it("[ACP-17] is a form, if the client has forms", async () => {
    const { home } = await homeThatAsks(CHOICES);
    const forms: unknown[] = [];
    const editor = await startEditor(home, {
      capabilities: { elicitation: { form: {} } },
      onForm: (asked) => {
        forms.push(asked);
        return { action: "accept", content: { answer: "2" } };
      },
    });
    const sessionId = await editor.begin();
    expect(await editor.prompt(sessionId, "ask me")).toMatchObject({ stopReason: "end_turn" });
    expect(forms).toMatchObject([
      {
        mode: "form",
        sessionId,
        message: "Which colour?",
        requestedSchema: {
          properties: {
            answer: {
              oneOf: [
                { const: "1", title: "red" },
                { const: "2", title: "blue" },
              ],
            },
          },
        },
      },
    ]);
    expect(editor.transcript().at(-1)).toContain("blue");
  });

  it("[ACP-17] is a permission request without forms", async () => {
    const { home } = await homeThatAsks(CHOICES);
    const editor = await startEditor(home, { onPermission: () => "1" });
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "ask me");
    expect(editor.asked[0]?.options.map(({ name }) => name)).toEqual(["red", "blue"]);
    expect(editor.transcript().at(-1)).toContain("red");
  });

  it("[ACP-17] takes the next prompt as its answer, if it has no choices", async () => {
    const { home } = await homeThatAsks(TEXT);
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    expect(await editor.prompt(sessionId, "ask me")).toMatchObject({ stopReason: "end_turn" });
    expect(editor.transcript()).toContain("agent: Which name?");
    expect(await editor.prompt(sessionId, "Ada")).toMatchObject({ stopReason: "end_turn" });
    expect(editor.transcript().at(-1)).toContain("Ada");
  });

  it("[ACP-17] [ACP-12] takes no answer that was not offered", async () => {
    const { home } = await homeThatAsks(CHOICES);
    const editor = await startEditor(home, { onPermission: () => "allow_session" });
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "ask me");
    const [open] = await home.json<object[]>(["sessions", "answer", sessionId, "--json"]);
    expect(open).toMatchObject({ state: "open", text: "Which colour?" });
  });
});

it("[ACP-5] loads the protocol's package after initialize, and for no other command", async () => {
  const home = freshHome({ REPRISE_MODEL: "demo" });
  const loaded = async (input: string, ...args: string[]): Promise<string> => {
    const program = ["--import", PRELOAD, SOURCES, ...args];
    const options = { cwd: home.project, env: home.environment(), input };
    return (await startProcess(process.execPath, program, options).finished).stderr;
  };
  const sdk = /node_modules\/@agentclientprotocol\//;
  expect(await loaded("", "sessions", "list")).not.toMatch(sdk);
  expect(await loaded("", "-p", "hello")).not.toMatch(sdk);
  expect(await loaded("", "acp")).not.toMatch(sdk);
  const message = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } };
  expect(await loaded(`${JSON.stringify(message)}\n`, "acp")).toMatch(sdk);
});
