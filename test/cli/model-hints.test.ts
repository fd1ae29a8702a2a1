import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, it, onTestFinished } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";
import { detailOf, idLike } from "../helpers/sessions/seed.ts";
import { CTRL_D } from "../helpers/terminal.ts";

async function refusingAddress(): Promise<{ host: string; url: string }> {
  const server = createServer((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "no key" } }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}/v1?key=secret` };
}

it("[CLI-61] a refusal without a key names the variable and the host that was asked", async () => {
  const { host, url } = await refusingAddress();
  const home = freshHome({ OPENAI_BASE_URL: url, REPRISE_MODEL: "openai:test" });
  const { code, stderr } = await home.call(["-p", "hello"]);
  expect(code).toBe(1);
  expect(stderr).toContain(`Set OPENAI_API_KEY. The request was sent to ${host}. `);
  expect(stderr).not.toContain("secret");
});

it("[CLI-480] a terminal says at once that the model has no key", async () => {
  const screen = openScreen(freshHome({ REPRISE_MODEL: "openai:gpt-5" }), "reprise", {
    columns: 120,
  });
  await screen.until(
    /^This model needs a key\. Set OPENAI_API_KEY [^]*^\/connect sets one up here\.$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
  );
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
  const keyed = { REPRISE_MODEL: "openai:gpt-5", OPENAI_API_KEY: "test" };
  const other = openScreen(freshHome(keyed), "reprise", { columns: 120 });
  expect(await other.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m)).not.toContain("needs a key");
  other.type(CTRL_D);
  expect(await other.finished).toBe(0);
});

it("[CLI-62] [CLI-292] says that the address of a server is not used without a model", async () => {
  const home = freshHome({ OPENAI_BASE_URL: "http://127.0.0.1:1/v1" });
  const note = "OPENAI_BASE_URL is not used without --model openai:<name>";
  const refused = await home.call(["-p", "hello"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("OPENAI_BASE_URL is set, but nothing names a model.");
  expect(await home.call(["-p", "hello", "--model", "demo"])).toMatchObject({ code: 0 });
  const { code, stderr } = await home.call([], { input: "hello\n" });
  expect(code).toBe(0);
  expect(stderr).toContain(note);
  const chosen = await home.call(["-p", "hello"], { env: { REPRISE_MODEL: "demo" } });
  expect(chosen.stderr).not.toContain(note);
});

it("[CLI-63] a session cannot begin with an id that is not a UUID of RFC 9562", async () => {
  const home = freshHome({ REPRISE_MODEL: "demo" });
  const wrong = "11111111-1111-1111-1111-111111111112";
  expect(await home.call(["--session", wrong, "-p", "hello"])).toMatchObject({
    code: 2,
    stdout: "",
  });
  const id = idLike("abcdef1");
  expect(await home.call(["--session", id, "-p", "hello"])).toMatchObject({ code: 0 });
  expect(await detailOf(home, id)).toMatchObject({ last_seq: 2 });
});

it("[EXCHANGE-18] a reader that closes its end early does not harm a finished exchange", async () => {
  const home = freshHome({ REPRISE_MODEL: "demo" });
  const id = idLike("abcdef1");
  const { stderr } = await home.startShell(`reprise --session ${id} -p hello | head -1`).finished;
  expect(stderr).not.toContain("Stopped before an answer came");
  expect(await detailOf(home, id)).toMatchObject({ last_seq: 2, activity: "idle" });
});
