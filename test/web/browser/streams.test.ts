import type { BrowserContext, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";

import { RepriseError } from "../../../src/core/errors.ts";
import { type RunningServer, startServer } from "../../../src/http/serve.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDatabase } from "../../helpers/database.ts";
import { freePort } from "../../helpers/free-port.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { builtPage, HAS_NO_BROWSER, openPages } from "../../helpers/page.ts";

/** A service that can be stopped and started again at its address, on a database that can be away. */
async function startService(token?: string) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const { location } = stack.use(await createDatabase());
  const database = stack.use(await openStoreAt(location));
  let isAway = false;
  const reach = (): void => {
    if (isAway) {
      throw new RepriseError("database_unavailable", "The database does not answer. Try again.");
    }
  };
  const store: Store = {
    location,
    onCommit: (listener) => database.onCommit(listener),
    mayHaveChanged: async () => database.mayHaveChanged(),
    load: () => database.load(),
    read: async (operation, input) => {
      reach();
      return database.read(operation, input);
    },
    write: async (operation, input) => {
      reach();
      return database.write(operation, input);
    },
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const page = await builtPage();
  const start = (port: number): Promise<RunningServer> =>
    startServer({
      version: "1.2.3",
      host: "127.0.0.1",
      port,
      store,
      page,
      token,
      log: () => undefined,
    });
  let server = await start(await freePort());
  const { url } = server;
  stack.defer(() => server.close());
  const login: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const post = async (path: string, body: unknown): Promise<{ readonly id: string }> => {
    const answer = await fetch(`${url}/api/sessions${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...login },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
    return answer.json();
  };
  return {
    url,
    newSession: async () => (await post("", {})).id,
    post: (id: string, content: string) => post(`/${id}/messages`, { content }),
    openStreams: async (): Promise<number> => {
      const text = await (await fetch(`${url}/metrics`, { headers: login })).text();
      return Number(/^reprise_streams_open(?:\{.*\})? (\d+)/m.exec(text)?.[1]);
    },
    setDatabaseAway: (next: boolean): void => {
      isAway = next;
    },
    stop: () => server.close(),
    startAgain: async (): Promise<void> => {
      server = await start(Number(new URL(url).port));
    },
  };
}

type Service = Awaited<ReturnType<typeof startService>>;

/** Tabs of one browser profile, and which of them asked for a live stream last. */
async function openTabs(service: Service, { hasLocks = true } = {}) {
  const pages = await openPages(service.url);
  onTestFinished(() => pages[Symbol.asyncDispose]());
  const context: BrowserContext = await pages.newContext();
  if (!hasLocks) {
    await context.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })",
    );
  }
  const readers: Page[] = [];
  context.on("request", (request) => {
    if (/\/live$|\/live\?|\/api\/events/.test(request.url())) {
      readers.push(request.frame().page());
    }
  });
  return {
    problems: pages.problems,
    open: async (id: string): Promise<Page> => pages.openPage(`/sessions/${id}`, { context }),
    openMany: async (ids: readonly string[]): Promise<Page[]> =>
      Promise.all(ids.map((id) => pages.openPage(`/sessions/${id}`, { context }))),
    leader: (): Page => readers.findLast((page) => !page.isClosed())!,
  };
}

const shows = (page: Page, text: string): Promise<void> =>
  page.getByText(text, { exact: true }).first().waitFor();
const allShow = async (pages: readonly Page[], text: string): Promise<void> => {
  await Promise.all(pages.map((page) => shows(page, text)));
};
/** The tab becomes one that the reader does not see, or that again. */
const setSeen = (page: Page, isSeen: boolean): Promise<void> =>
  page.evaluate(
    (state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    },
    isSeen ? "visible" : "hidden",
  );

it.skipIf(HAS_NO_BROWSER)(
  "[PAGE-40] [PAGE-44] eight tabs of one session read one stream, whichever of them goes (needs Chromium)",
  async () => {
    const service = await startService();
    const tabs = await openTabs(service);
    const id = await service.newSession();
    await service.post(id, "before");
    let pages = await tabs.openMany(Array.from({ length: 8 }, () => id));
    await allShow(pages, "before");
    const oneStream = () => expect.poll(service.openStreams).toBe(1);
    await oneStream();
    await service.post(id, "to eight tabs");
    await allShow(pages, "to eight tabs");

    const leaves: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
      ["closed", (page) => page.close()],
      ["gone elsewhere", (page) => page.goto(`${service.url}/plans`)],
      [
        "crashed",
        async (page) => {
          const session = await page.context().newCDPSession(page);
          const crashed = page.waitForEvent("crash");
          session.send("Page.crash").catch(() => undefined);
          await crashed;
        },
      ],
    ];
    for (const [how, leave] of leaves) {
      const leader = tabs.leader();
      pages = pages.filter((page) => page !== leader);
      await leave(leader);
      await service.post(id, `after the leader is ${how}`);
      await allShow(pages, `after the leader is ${how}`);
      await oneStream();
      expect(tabs.leader()).not.toBe(leader);
    }

    // a dialog stops all that a tab does: the others do not wait for it
    const stuck = tabs.leader();
    pages = pages.filter((page) => page !== stuck);
    const dialog = stuck.waitForEvent("dialog");
    await stuck.evaluate(() => void setTimeout(() => alert("Wait")));
    const shown = await dialog;
    await expect.poll(tabs.leader).not.toBe(stuck);
    await service.post(id, "beside a dialog");
    await allShow(pages, "beside a dialog");
    await shown.accept();
    pages.push(stuck);
    await allShow(pages, "beside a dialog");
    await oneStream();

    // hidden, it neither leads nor hears; seen again, it has all of it
    const hidden = tabs.leader();
    const others = pages.filter((page) => page !== hidden);
    await setSeen(hidden, false);
    for (let n = 1; n <= 3; n += 1) {
      await service.post(id, `unseen ${n}`);
    }
    await allShow(others, "unseen 3");
    expect(await hidden.getByText("unseen 3").count()).toBe(0);
    expect(tabs.leader()).not.toBe(hidden);
    await setSeen(hidden, true);
    for (const n of [1, 2, 3]) {
      await shows(hidden, `unseen ${n}`);
    }
    await oneStream();

    // all of them hidden: nothing is read
    await Promise.all(pages.map((page) => setSeen(page, false)));
    await expect.poll(service.openStreams).toBe(0);
    await Promise.all(pages.map((page) => setSeen(page, true)));
    await service.post(id, "seen again");
    await allShow(pages, "seen again");
    await oneStream();
    expect(tabs.problems).toEqual([]);
  },
);

it.skipIf(HAS_NO_BROWSER)(
  "[PAGE-40] eight tabs of eight sessions have two streams, and each is usable (needs Chromium)",
  async () => {
    const service = await startService();
    const tabs = await openTabs(service);
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const id = await service.newSession();
      await service.post(id, `session ${n}`);
      ids.push(id);
    }
    const pages = await tabs.openMany(ids);
    await Promise.all(pages.map((page, n) => shows(page, `session ${n}`)));
    await expect.poll(service.openStreams).toBe(2);
    for (const [n, id] of ids.entries()) {
      await service.post(id, `more of ${n}`);
    }
    await Promise.all(pages.map((page, n) => shows(page, `more of ${n}`)));
    const notice = "Other tabs have the live connections";
    const waiting = await Promise.all(pages.map((page) => page.getByText(notice).count()));
    expect(waiting.filter((count) => count > 0)).toHaveLength(6);
    expect(await service.openStreams()).toBe(2);
    // the streams that are free go to tabs that wait
    await Promise.all(pages.filter((_, n) => waiting[n] === 0).map((page) => page.close()));
    await expect.poll(service.openStreams).toBe(2);
    const left = pages.filter((_, n) => waiting[n] === 1);
    await expect
      .poll(async () => {
        const counts = await Promise.all(left.map((page) => page.getByText(notice).count()));
        return counts.filter((count) => count > 0).length;
      })
      .toBe(4);
    expect(tabs.problems).toEqual([]);
  },
);

it.skipIf(HAS_NO_BROWSER)(
  "[PAGE-43] [PAGE-45] the page says that the service or its database is away, and then misses nothing (needs Chromium)",
  async () => {
    const service = await startService();
    const tabs = await openTabs(service);
    const id = await service.newSession();
    await service.post(id, "before");
    const pages = await tabs.openMany([id, id, id]);
    await allShow(pages, "before");
    await expect.poll(service.openStreams).toBe(1);

    await service.stop();
    for (const page of pages) {
      await page.getByText(/^The service does not answer\. What you see is from \d/).waitFor();
      await page.getByText(/^Trying again/).waitFor();
    }
    await service.startAgain();
    await service.post(id, "after the restart");
    await allShow(pages, "after the restart");
    for (const page of pages) {
      await page.getByText("The service does not answer").waitFor({ state: "detached" });
    }

    service.setDatabaseAway(true);
    for (const page of pages) {
      await page.getByText("The database of the service does not answer").waitFor();
    }
    service.setDatabaseAway(false);
    await service.post(id, "after the database");
    await allShow(pages, "after the database");
    for (const page of pages) {
      await page.getByText("The database of the service").waitFor({ state: "detached" });
    }

    await fetch(`${service.url}/api/sessions/${id}/end`, { method: "POST" });
    for (const page of pages) {
      await page.getByText("This session has ended. Nothing follows.").waitFor();
    }
    await expect.poll(service.openStreams).toBe(0);
    // what the pages could not read while the service was away is in their consoles
    expect(tabs.problems.filter((problem) => !problem.includes("ERR_"))).toEqual([]);
  },
);

it.skipIf(HAS_NO_BROWSER)(
  "[PAGE-141] without the browser's locks, each tab reads for itself (needs Chromium)",
  async () => {
    const service = await startService();
    const tabs = await openTabs(service, { hasLocks: false });
    const id = await service.newSession();
    await service.post(id, "before");
    const pages = await tabs.openMany([id, id, id, id]);
    await allShow(pages, "before");
    await service.post(id, "to four tabs");
    await allShow(pages, "to four tabs");
    await expect.poll(service.openStreams).toBe(4);
    const [first, ...left] = pages;
    await first!.close();
    await service.post(id, "after one is closed");
    await allShow(left, "after one is closed");
    await expect.poll(service.openStreams).toBe(3);
    expect(tabs.problems).toEqual([]);
  },
);

it.skipIf(HAS_NO_BROWSER)(
  "[PAGE-46] a login in one tab begins the streams of all, and a logout ends them (needs Chromium)",
  async () => {
    const service = await startService("a-token");
    const tabs = await openTabs(service);
    const id = await service.newSession();
    await service.post(id, "for the owner");
    const pages = await tabs.openMany([id, id]);
    const field = "Token of the service";
    const [page, other] = pages;
    await Promise.all(pages.map((each) => each.getByLabel(field).waitFor()));
    expect(await service.openStreams()).toBe(0);
    await page!.getByLabel(field).fill("a-token");
    await page!.keyboard.press("Enter");
    await allShow(pages, "for the owner");
    await expect.poll(service.openStreams).toBe(1);
    await service.post(id, "to both tabs");
    await allShow(pages, "to both tabs");
    await page!.getByRole("button", { name: "Log out" }).first().click();
    await other!.getByLabel(field).waitFor();
    await expect.poll(service.openStreams).toBe(0);
    expect(tabs.problems).toEqual([]);
  },
);
