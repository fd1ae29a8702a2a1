import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import type { SessionDetail } from "../../src/core/schemas/schemas.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";

/** Each must come back exactly as it was sent, wherever it is read. */
const STORABLE = [
  "👩‍👩‍👧‍👦 🏳️‍🌈 🇨🇭 👍🏽 e\u0301 é \ufe0f",
  "\ud83d\ude00".repeat(60),
  "line\u2028separator paragraph\u2029separator next\u0085line",
  "tab\t newline\n return\r both\r\n vertical\v form\f",
  "\u0001\u0002\u001b[31mred\u001b[0m\u007f",
  "\ufeffwith a byte order mark \ufeff and \ufffd",
  "\u202eright to left\u202c \u2066isolated\u2069",
  "data: x\n\nid: 99\nevent: message\n\n",
  '</script> " \\ \\u0000 \\ud800 %00 ${x} {{x}}',
  "\uffff\ufffe\u{10ffff}\u{1f9ff}",
  " leading and trailing ",
  "x".repeat(1024 * 1024),
  "é".repeat(512 * 1024),
  "\u0001".repeat(1024 * 1024),
];

const REFUSED = ["a\0b", "\0", "\ud800", "\udfff", "a\ud83d b", "\ude00\ud83d"];

async function startService(home: Home) {
  const service = home.start(["serve", "--port", "0"]);
  const [, url = ""] = await service.waitFor(/^listening on (\S+)\n/);
  return { service, url };
}

it("[HTTP-9] [HTTP-28] text of every kind comes back the same in the detail, the stream and `sessions show`", async () => {
  const home = freshHome();
  const { url } = await startService(home);
  const client = createClient({ baseUrl: url });
  const { id } = await client.createSession();
  for (const content of STORABLE) {
    await client.postMessage(id, content);
  }
  await client.endSession(id);
  const streamed: string[] = [];
  for await (const { content } of client.followSession(id)) {
    streamed.push(content);
  }
  const detail = await client.getSession(id);
  const shown = await home.json<SessionDetail>(["sessions", "show", id, "--json"]);
  for (const [index, content] of STORABLE.entries()) {
    // not compared by `toEqual` at once: nobody can read a difference of 1 MiB
    expect(detail.messages[index]?.content === content, `detail ${index}`).toBe(true);
    expect(streamed[index] === content, `stream ${index}`).toBe(true);
    expect(shown.messages[index]?.content === content, `show ${index}`).toBe(true);
  }
  expect([detail.messages.length, streamed.length, shown.messages.length]).toEqual(
    Array.from({ length: 3 }, () => STORABLE.length),
  );
});

it("[HTTP-13] [CLI-36] text that would not come back the same is refused, over HTTP and on the command line", async () => {
  const home = freshHome();
  const { url } = await startService(home);
  const client = createClient({ baseUrl: url });
  const { id } = await client.createSession();
  for (const content of REFUSED) {
    await expect(client.postMessage(id, content)).rejects.toMatchObject({
      code: "invalid_request",
      status: 422,
    });
    for (const field of ["persona_name", "model_override"] as const) {
      await expect(client.createSession({ [field]: content })).rejects.toMatchObject({
        code: "invalid_request",
      });
    }
    await expect(client.createSession({ repo_path: `/${content}` })).rejects.toMatchObject({
      code: "invalid_request",
    });
  }
  const { code, stderr } = await home.run(["--session", id, "-p", "-", "--json"], {
    input: "a\0b",
  });
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({ code: "invalid_request" });
  expect((await client.getSession(id)).last_seq).toBe(0);
});

it("[HTTP-9] [CLI-33] what `-p` reads is the same over HTTP, from arguments and from standard input", async () => {
  const home = freshHome();
  const { url } = await startService(home);
  const client = createClient({ baseUrl: url });
  const { id } = await client.createSession();
  const said = STORABLE.filter((text) => text.length < 1000 || text.startsWith("x"));
  for (const [index, text] of said.entries()) {
    const viaInput = index % 2 === 0 || text.length > 1000;
    const { code } = await home.run(
      ["--session", id, "-p", viaInput ? "-" : text, "--json"],
      viaInput ? { input: `${text}\n` } : {},
    );
    expect(code, `message ${index}`).toBe(0);
  }
  const { messages } = await client.getSession(id);
  const read = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  expect(read.map((text) => text.length)).toEqual(said.map((text) => text.length));
  expect(read.every((text, index) => text === said[index])).toBe(true);
});
