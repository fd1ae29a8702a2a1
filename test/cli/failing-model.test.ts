import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, it, onTestFinished } from "vitest";

import { OTHER_KEY, OWN_KEY, PASSWORD, QUESTION, QUOTES } from "../helpers/quoted-secrets.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { startProvider } from "../helpers/providers/start.ts";
import { freshHome } from "../helpers/reprise.ts";
import { detailOf, idLike, rowsOf, seed } from "../helpers/sessions/seed.ts";

const KEY = "sk-secret-0123456789";

/** Answers every request with this status and a body that quotes the key, as providers do. */
async function refusingServer(status: number): Promise<string> {
  const server: Server = createServer((request, response) => {
    const error = {
      message: `Incorrect key ${request.headers.authorization ?? ""}`,
      type: "invalid_request_error",
    };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

describe("a model that fails", () => {
  it("[CLI-37] [CLI-31] is reported in one line with the command to resume; nothing is stored twice", async () => {
    const server = await startModelServer({ answer: () => ({ content: "the answer" }) });
    const home = freshHome({ REPRISE_MODEL: "openai:test", OPENAI_API_KEY: KEY });
    const id = idLike("abcdef1");
    await seed(home, { id });
    // nobody listens on port 1
    const unreachable = { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    const failed = await home.call(["--session", id, "-p", "the question"], { env: unreachable });
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toMatch(
      /^note: openai:test is not in the table[^\n]*\n(?:note: the OpenAI service cannot be reached \(connection failed\); asking again in \d s\.\n){2}reprise: The OpenAI service cannot be reached \(connection failed\)\. [^\n]* \[model_unreachable\]\nResume with: reprise --session abcdef1\S+ --continue-exchange\n$/,
    );
    expect(await detailOf(home, id)).toMatchObject({
      state: "active",
      activity: "interrupted",
      title: "the question",
      last_seq: 1,
    });

    const env = server.env("openai");
    expect(await home.call(["--session", id, "-p", "once more"], { env })).toMatchObject({
      code: 0,
      stdout: "the answer\n",
    });
    expect(server.requests().map((messages) => messages.map(({ content }) => content))).toEqual([
      ["the question", "once more"],
    ]);
    const detail = await detailOf(home, id);
    expect(detail.activity).toBe("idle");
    expect(rowsOf(detail)).toEqual([
      [1, "user", "the question"],
      [2, "user", "once more"],
      [3, "assistant", "the answer"],
    ]);
  });

  it("[CLI-410] that refuses to answer is reported with the option by which another one does", async () => {
    const provider = await startProvider("openai", (index) => [
      index === 0 ? { kind: "stop", reason: "refused" } : { kind: "text", text: "the answer" },
    ]);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const home = freshHome(provider.env);
    const id = idLike("abcdef1");
    await seed(home, { id });
    const session = ["--session", id];
    const { stderr } = await home.call([...session, "-p", "the question"]);
    expect(stderr).toContain("[model_refused]");
    expect(stderr).toContain("--switch with --continue-exchange lets another model answer it.");
    const next = ["--switch", "openai:other", "--continue-exchange"];
    expect(await home.call([...session, ...next])).toMatchObject({
      code: 0,
      stdout: "the answer\n",
    });
  });

  it.each([
    [401, "model_unauthorized"],
    [404, "model_unknown"],
    [400, "model_failed"],
  ])(
    "[CLI-37] [CLI-1] a response of %i is reported as %s, with the provider's reason and without the key",
    async (status, code) => {
      const home = freshHome({
        REPRISE_MODEL: "openai:test",
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: await refusingServer(status),
      });
      const failed = await home.call(["-p", "the question", "--json"]);
      expect(failed).toMatchObject({ code: 1, stdout: "" });
      expect(failed.stderr.split("\n")).toHaveLength(2);
      const told = JSON.parse(failed.stderr);
      expect(told).toEqual({ code, detail: expect.any(String), session_id: expect.any(String) });
      const shown = await home.json(["sessions", "show", told.session_id, "--json"]);
      expect(shown).toMatchObject({ messages: [{ content: "the question" }] });
      expect(failed.stderr).not.toContain(KEY);
      expect(told.detail).toContain('): "Incorrect key […]". ');
    },
  );

  it("[CLI-37] shows no secret that a provider quotes, in lines, in JSON and in events", async () => {
    let message = "";
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message } }));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => void server.close());
    const home = freshHome({
      REPRISE_MODEL: "openai:test",
      OPENAI_API_KEY: OWN_KEY,
      ANTHROPIC_API_KEY: OTHER_KEY,
      OLLAMA_BASE_URL: `http://ada:${PASSWORD}@127.0.0.1:1`,
      OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    });
    const forms = [[], ["--json"], ["--json=events"]];
    for (const [index, [text, ...secrets]] of QUOTES.entries()) {
      message = text;
      const { code, stdout, stderr } = await home.call([
        "-p",
        QUESTION,
        ...(forms[index % 3] ?? []),
      ]);
      expect(code).toBe(1);
      expect(stderr).toContain("rejected the request (status 400)");
      const shown = stderr.trimEnd().split("\n")[0] + stdout.replaceAll("\n", "");
      for (const secret of secrets) {
        expect(shown.includes(secret), `${text}: ${shown}`).toBe(false);
      }
    }
  });

  it("[CLI-37] [CLI-120] a session whose model has no key accepts no message until it has one", async () => {
    const server = await startModelServer({ answer: () => ({ content: "the answer" }) });
    const home = freshHome();
    const id = idLike("abcdef1");
    await seed(home, { id, model: "openai:test", messages: ["appended"] });
    const failed = await home.call(["--session", id, "-p", "the question"]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toMatch(
      /^reprise: [^\n]*OPENAI_API_KEY[^\n]* \[model_key_missing\]\nResume/,
    );
    expect(await detailOf(home, id)).toMatchObject({ activity: "idle", last_seq: 1 });
    await home.json(["--session", id, "-p", "the question", "--json"], {
      env: server.env("openai"),
    });
    expect(server.requests().map((messages) => messages.map(({ content }) => content))).toEqual([
      ["appended", "the question"],
    ]);
  });
});
