import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { rolldown } from "rolldown";
import { expect, it } from "vitest";

import { bundle } from "../../build/bundle.ts";
import { installedBrowser, openBrowser, startPages } from "../helpers/browser.ts";
import { payingModel, startPayingService, TOKEN } from "../helpers/paying-service.ts";
import { startTestServer } from "../helpers/server.ts";
import { startTcpServer } from "../helpers/tcp-server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const token = "correct-horse";

/** What a page does with the client; its value is compared. */
const program = (baseUrl: string) => `(async () => {
  const { createClient, ClientError } = await import("/client.js");
  const client = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, token: "${token}" });
  const { id } = await client.createSession({});
  await client.postMessage(id, "from a page");
  const read = [];
  for await (const { seq, content } of client.followSession(id)) {
    read.push(seq + " " + content);
    if (seq === 1) {
      await client.postMessage(id, "while it is followed");
    } else {
      await client.endSession(id);
    }
  }
  const { sessions } = await client.listSessions({ limit: 1 });
  const refused = await client.postMessage(id, "too late").catch((error) => error);
  return { read, title: sessions[0].title, refused: refused instanceof ClientError && refused.code };
})()`;

const hasNone = installedBrowser() === null;

it.skipIf(hasNone)(
  "[PACK-13] the client works in a page of an allowed origin (needs Chromium)",
  async () => {
    const folder = temporaryFolder();
    const entries = { client: "src/entries/client.ts" };
    await bundle({ root: ROOT, entries, external: [], folder });
    const module = readFileSync(join(folder, "client.js"), "utf8");
    using pages = await startPages({ "/client.js": module });
    await using service = await startTestServer({ token, allowOrigins: [pages.origin] });
    await using browser = await openBrowser();
    const page = await browser.open(pages.origin);
    expect(await page.evaluate(program(service.url))).toEqual({
      read: ["1 from a page", "2 while it is followed"],
      title: "from a page",
      refused: "session_ended",
    });
    expect(browser.failures).toEqual([]);
  },
);

/** The module of the conversations, as a bundler of web pages makes it. */
async function conversationsModule(): Promise<string> {
  const input = { page: "test/fixtures/pages/conversations.ts" };
  const bundled = await rolldown({ cwd: ROOT, input, platform: "browser" });
  const { output } = await bundled.generate({ format: "esm" });
  await bundled.close();
  expect(output.map(({ fileName }) => fileName)).toEqual(["page.js"]);
  const [{ code }] = output;
  return code;
}

/** A service that an origin may use, behind a proxy whose connections can be cut, and pages of two origins. */
async function startConversations() {
  const stack = new AsyncDisposableStack();
  const modules = { "/page.js": await conversationsModule() };
  const allowed = stack.use(await startPages(modules));
  const foreign = stack.use(await startPages(modules));
  let target = "";
  const proxy = stack.use(
    await startTcpServer((client, { keep }) => {
      const { hostname, port } = new URL(target);
      const upstream = keep(connect(Number(port), hostname));
      client.pipe(upstream).pipe(client);
      client.once("close", () => upstream.destroy());
      upstream.once("close", () => client.destroy());
    }),
  );
  const service = await startPayingService(payingModel, {
    allowOrigins: [allowed.origin],
    allowHosts: [`127.0.0.1:${proxy.port}`],
    latencyMs: 40,
  });
  target = service.url;
  const browser = stack.use(await openBrowser());
  const open = async (origin: string) => {
    const page = await browser.open(origin);
    await page.exposeFunction("cut", () => {
      for (const socket of proxy.sockets) {
        socket.destroy();
      }
    });
    await page.addScriptTag({ url: "/page.js", type: "module" });
    return page;
  };
  const url = `http://127.0.0.1:${proxy.port}`;
  /** The status of each preflight so far. */
  const preflights = () =>
    service.log.flatMap(({ method, status }) => (method === "OPTIONS" ? [status] : []));
  return {
    stack,
    service,
    allowed,
    foreign,
    browser,
    open,
    preflights,
    place: { url, token: TOKEN },
  };
}

/** What a page of the origin says once its conversation is held, in a new session with the folder of the first. */
async function hold(
  { service, place, open }: Awaited<ReturnType<typeof startConversations>>,
  name: string,
  origin: string,
) {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const path = `/api/sessions/${service.id}`;
  const { repo_path } = (await service.call<{ repo_path: string }>("GET", path, { headers })).json;
  const body = { repo_path, permission: "all" };
  const made = await service.call<{ id: string }>("POST", "/api/sessions", { headers, body });
  const { id } = made.json;
  const page = await open(origin);
  const value: unknown = await page.evaluate(
    `conversations.${name}({ ...${JSON.stringify({ ...place, id })}, cut })`,
  );
  return { id, value };
}

const HELLO = "you said: hello 👩‍🚀é";
const PAID = "1\tthe note; 1\tthe note; paid rent";
const LONG = `a text that takes ${"a while, ".repeat(20)}and ends`;
const SAID = `you said: ${LONG} 👩‍🚀é`;

it.skipIf(hasNone)(
  "[UI-22] a page of another origin talks to the package ai over a connection that is cut (needs Chromium)",
  async () => {
    const world = await startConversations();
    await using _ = world.stack;
    const { value } = await hold(world, "aiSdk", world.allowed.origin);
    expect(value).toEqual({
      asked: 1,
      status: "error",
      error: null,
      texts: ["hello", HELLO, "pay rent", `Let me see. |${PAID}`, LONG, SAID],
      tools: ["read_file", "read_file", "pay"].map((name) => `${name} output-available`),
    });
    expect(world.service.paid()).toEqual(["rent"]);
    expect(world.preflights()).toContain(204);
    expect(world.browser.failures).toEqual([]);
  },
);

it.skipIf(hasNone)(
  "[UI-23] a page of another origin talks to the package @ag-ui/client over a connection that is cut (needs Chromium)",
  async () => {
    const world = await startConversations();
    await using _ = world.stack;
    const { value } = await hold(world, "agUi", world.allowed.origin);
    expect(value).toEqual({
      asked: 1,
      status: "error",
      texts: [
        ["user", "hello"],
        ["assistant", HELLO],
        ["user", "pay rent"],
        ["assistant", "Let me see. "],
        ["tool", "1\tthe note"],
        ["tool", "1\tthe note"],
        ["tool", "paid rent"],
        ["assistant", PAID],
        ["user", LONG],
        ["assistant", SAID],
      ],
    });
    expect(world.service.paid()).toEqual(["rent"]);
    // the package reports the cut, and leaves its error uncaught too
    expect(world.browser.failures.filter((each) => each !== "network error")).toEqual([]);
  },
);

it.skipIf(hasNone)(
  "[UI-24] a page of another origin runs exchanges with the client over a connection that is cut (needs Chromium)",
  async () => {
    const world = await startConversations();
    await using _ = world.stack;
    const { value } = await hold(world, "client", world.allowed.origin);
    const results = ["1\tthe note", "1\tthe note", "paid rent"];
    expect(value).toEqual({
      asked: 1,
      hello: { state: "done", texts: [HELLO], results: [] },
      waiting: { state: "waiting", texts: ["Let me see. "], results: [] },
      paid: { state: "done", texts: ["Let me see. ", PAID], results },
      long: { state: "done", texts: [SAID], results: [] },
      lost: 1,
      stored: [HELLO, "Let me see. ", PAID, SAID],
      hasNext: true,
    });
    expect(world.service.paid()).toEqual(["rent"]);
    expect(world.browser.failures).toEqual([]);
  },
);

it.skipIf(hasNone)(
  "[HTTP-201] a page of an origin that is not allowed reads and stores nothing (needs Chromium)",
  async () => {
    const world = await startConversations();
    await using _ = world.stack;
    const { id, value } = await hold(world, "refused", world.foreign.origin);
    const failed = "TypeError: Failed to fetch";
    expect(value).toEqual([failed, failed, "unreachable"]);
    expect(world.preflights()).not.toContain(204);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { json } = await world.service.call("GET", `/api/sessions/${id}`, { headers });
    expect(json).toMatchObject({ last_seq: 0 });
  },
);
