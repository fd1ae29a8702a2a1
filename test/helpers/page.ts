import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

import type { ServerOptions } from "../../src/http/serve.ts";
import { installedBrowser, PAGE_WAIT_MS } from "./browser.ts";
import { ask } from "./on-first-ask.ts";
import { PAGE_VARIABLE } from "./page-setup.ts";
import { startTestServer } from "./server.ts";

/** True without an installed browser: tests of the page are then shown as skipped. */
export const HAS_NO_BROWSER = installedBrowser() === null;

/** The folder of the built page, for the option `page` of `startServer`. */
export function builtPage(): Promise<string> {
  return ask<string>(PAGE_VARIABLE);
}

export interface PageView {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  readonly reducedMotion?: "reduce";
  /** A phone: its page is enlarged with two fingers. */
  readonly isMobile?: boolean;
  /** Logged in with this token before the first page is opened. */
  readonly token?: string;
  /** Tabs of one context share cookies, storage and channels. Default: a new one for each page. */
  readonly context?: BrowserContext;
}

/** For all tests of a process: to start one costs as much as a test does with its pages. It ends with the process. */
let launched: Promise<Browser> | null = null;

async function runningBrowser(): Promise<Browser> {
  const browser = await launched;
  if (browser?.isConnected() === true) {
    return browser;
  }
  const executablePath = installedBrowser() ?? "";
  launched = chromium.launch({ executablePath, args: ["--no-sandbox"] });
  return launched;
}

/** Opens pages of a service on this machine in the installed browser, in separate contexts. */
export async function openPages(origin: string) {
  const browser = await runningBrowser();
  const contexts = new Set<BrowserContext>();
  const problems: string[] = [];
  const newContext = async (view: PageView = {}): Promise<BrowserContext> => {
    const context = await browser.newContext({
      viewport: { width: view.width ?? 1280, height: view.height ?? 800 },
      colorScheme: view.colorScheme ?? "light",
      reducedMotion: view.reducedMotion ?? null,
      isMobile: view.isMobile ?? false,
      hasTouch: view.isMobile ?? false,
    });
    contexts.add(context);
    context.setDefaultTimeout(PAGE_WAIT_MS);
    await watch(context, { origin, problems });
    if (view.token !== undefined) {
      await logIn(context, { origin, token: view.token });
    }
    return context;
  };
  return {
    browser,
    /** Uncaught errors, reports of the content security policy, errors in the console, requests to other origins. */
    problems,
    newContext,
    /** Opens a path of the service, such as `/plans`, and waits until the page is loaded. */
    openPage: async (path: string, view: PageView = {}): Promise<Page> => {
      const context = view.context ?? (await newContext(view));
      const page = await context.newPage();
      await page.goto(new URL(path, origin).href);
      return page;
    },
    /** Fails if a page did what none may do. For the end of each test. */
    expectNoProblems: () => expectNone(problems),
    /** The same after a logout: the service may cut streams of the login (PAGE-5) before the page has ended them. */
    expectOnlyCutStreams: () => expectNone(problems.filter((each) => !CUT_STREAM.test(each))),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...contexts].map((context) => context.close()));
    },
  };
}

/** A service on a separate database that serves the page, and a browser. */
export async function startPage(options: Partial<ServerOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const service = stack.use(await startTestServer({ page: await builtPage(), ...options }));
  const pages = stack.use(await openPages(service.url));
  return { service, ...pages, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Keeps what a page shows as `page-<name>.png`, if REPRISE_TEST_PICTURES names a folder. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env["REPRISE_TEST_PICTURES"];
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `page-${name}.png`) });
  }
}

/** Reads a number of a page until it stays the same, such as its scroll position. */
export async function settled(read: () => Promise<number>): Promise<number> {
  let last = Number.NaN;
  await expect
    .poll(async () => {
      const before = last;
      last = await read();
      return last === before;
    })
    .toBe(true);
  return last;
}

/** What axe-core finds wrong with a page: each rule with the elements that break it. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // not as a script of the page, which its policy would refuse; once for each document
  if (await page.evaluate(() => !("axe" in window))) {
    await page.evaluate(await axeSource());
  }
  const found = await page.evaluate<{ id: string; nodes: { target: string[] }[] }[]>(
    `axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(", ")}`);
}

/** As the page does it, without its form. */
async function logIn(
  { request }: BrowserContext,
  { origin, token }: { readonly origin: string; readonly token: string },
): Promise<void> {
  const headers = { "x-reprise-page": "1", "sec-fetch-site": "same-origin", origin };
  const answer = await request.post(`${origin}/page/login`, { data: { token }, headers });
  expect(answer.status()).toBe(200);
}

const CUT_STREAM =
  /^console: Failed to load resource: net::ERR_INCOMPLETE_CHUNKED_ENCODING .*\/(?:live|events)\b/;

/** With a message: that of a failed comparison leaves out what is in an array. */
function expectNone(problems: readonly string[]): void {
  expect(problems, problems.join("\n")).toEqual([]);
}

async function axeSource(): Promise<string> {
  const { default: axe } = await import("axe-core");
  return axe.source;
}

async function watch(
  context: BrowserContext,
  { origin, problems }: { readonly origin: string; readonly problems: string[] },
): Promise<void> {
  await context.exposeFunction("reportViolation", (text: string) => {
    problems.push(`content security policy: ${text}`);
  });
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", (event) =>
       reportViolation(event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
  );
  context.on("page", (page) => {
    page.on("pageerror", ({ message }) => problems.push(`error: ${message}`));
    page.on("console", (message) => {
      // what the service refuses is the test's own business
      if (
        message.type() === "error" &&
        !message.text().startsWith("Failed to load resource: the server")
      ) {
        problems.push(`console: ${message.text()} ${message.location().url}`);
      }
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) {
        problems.push(`request: ${url}`);
      }
    });
  });
}
