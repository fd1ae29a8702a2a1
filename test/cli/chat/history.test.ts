import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { type History, openHistory } from "../../../src/cli/chat/history.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const KEY = "sk-ant-secret-0123456789";
const secrets = async () => [{ name: "ANTHROPIC_API_KEY", value: KEY }];

const newFile = (): string => join(temporaryFolder(), "history", "one.jsonl");
const opened = async (file: string | null): Promise<History> => {
  const history = openHistory({ file, secrets });
  await history.written();
  return history;
};
const texts = async (file: string): Promise<string[]> =>
  (await opened(file)).entries().map(({ text }) => text);
const entry = (text: string) => ({ text, pasted: false });
const lines = (count: number, text = "message"): string =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify(entry(`${text} ${n}`))}\n`).join("");

function written(text: string): string {
  const file = newFile();
  mkdirSync(join(file, ".."), { mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

describe("[TERM-33] the file of the history", () => {
  it("is the user's alone, and keeps messages over restarts", async () => {
    const file = newFile();
    const first = await opened(file);
    first.add(entry("one\nline ✓"));
    first.add({ text: "/end", pasted: true });
    expect(first.entries()).toHaveLength(2);
    await first.written();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    expect((await opened(file)).entries()).toEqual([
      { text: "one\nline ✓", pasted: false },
      { text: "/end", pasted: true },
    ]);
  });

  it("gets what several processes write at the same time", async () => {
    const file = newFile();
    const histories = await Promise.all([1, 2, 3, 4].map(() => opened(file)));
    for (const [index, history] of histories.entries()) {
      for (let n = 0; n < 25; n += 1) {
        history.add(entry(`${index}-${n}`));
      }
    }
    await Promise.all(histories.map((history) => history.written()));
    expect(new Set(await texts(file)).size).toBe(100);
  });

  it("does not get messages with a secret", async () => {
    const file = newFile();
    const history = await opened(file);
    history.add(entry(`use ${KEY} please`));
    history.add(entry("without"));
    await history.written();
    expect(history.entries()).toHaveLength(2);
    expect(readFileSync(file, "utf8")).not.toContain("secret");
    expect(await texts(file)).toEqual(["without"]);
  });

  it("gets nothing while the secrets are unknown", async () => {
    const file = newFile();
    const history = openHistory({ file, secrets: () => Promise.reject(new Error("config")) });
    history.add(entry("one"));
    await history.written();
    expect(existsSync(file)).toBe(false);
    expect(history.entries()).toEqual([entry("one")]);
  });

  it("is read without its damaged lines, which the next message does not join", async () => {
    const file = written(
      `${lines(1)}{"text": 7}\n[]\nnull\n{"text":""}\n\u0000\n{"text":"no more"}\n{"text":"to`,
    );
    (await opened(file)).add(entry("after"));
    const history = await opened(file);
    await history.written();
    await expect.poll(() => texts(file)).toEqual(["message 0", "no more", "after"]);
    // what does not say that it was typed may have been pasted
    expect((await opened(file)).entries()[1]?.pasted).toBe(true);
  });

  it("is trimmed to its latest entries", async () => {
    const many = written(lines(1200));
    expect(await texts(many)).toHaveLength(1000);
    const kept = readFileSync(many, "utf8").trim().split("\n");
    expect(kept).toHaveLength(500);
    expect(kept.at(-1)).toContain("message 1199");
    expect(statSync(many).mode & 0o777).toBe(0o600);

    const large = written(lines(600, "x".repeat(4000)));
    await texts(large);
    expect(statSync(large).size).toBeLessThan(600_000);
    expect((await texts(large)).at(-1)).toMatch(/ 599$/);
  });

  it("keeps what another process appends to a file that was replaced", async () => {
    const file = written(lines(3));
    const history = await opened(file);
    // as a trim of another process does
    writeFileSync(`${file}.new`, lines(2), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    history.add(entry("new"));
    await history.written();
    expect(await texts(file)).toEqual(["message 0", "message 1", "new"]);
  });

  it("is trimmed again after a process that was killed in the middle of it", async () => {
    const file = written(lines(1200));
    writeFileSync(`${file}.new`, "half");
    await texts(file);
    expect(readFileSync(`${file}.new`, "utf8")).toBe("half");
    utimesSync(`${file}.new`, 1, 1);
    await texts(file);
    await texts(file);
    expect(existsSync(`${file}.new`)).toBe(false);
    expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(500);
  });

  it("is read although it cannot be trimmed", async () => {
    const file = written(lines(1200));
    mkdirSync(`${file}.new`);
    utimesSync(`${file}.new`, 1, 1);
    expect(await texts(file)).toHaveLength(1000);
  });

  it.each<[string, (file: string, target: string) => void]>([
    ["a link", (file, target) => symlinkSync(target, file)],
    ["a folder", (file) => mkdirSync(file)],
    [
      "a file that others can read",
      (file) => {
        writeFileSync(file, lines(1));
        chmodSync(file, 0o644);
      },
    ],
  ])("is not used in place of %s", async (_, place) => {
    const file = newFile();
    mkdirSync(join(file, ".."));
    const target = join(temporaryFolder(), "target");
    writeFileSync(target, lines(1), { mode: 0o600 });
    place(file, target);
    const history = await opened(file);
    expect(history.entries()).toEqual([]);
    history.add(entry("new"));
    await history.written();
    expect(readFileSync(target, "utf8")).toBe(lines(1));
    expect(history.entries()).toEqual([entry("new")]);
  });

  it("does not hold a message of over 128 KiB, and memory holds 1,000 of 4 MiB together", async () => {
    const file = newFile();
    const history = await opened(file);
    for (let n = 0; n < 6; n += 1) {
      history.add(entry(`${n}${"x".repeat(1024 * 1024)}`));
    }
    await history.written();
    expect(existsSync(file)).toBe(false);
    expect(history.entries().length).toBeLessThan(5);
    expect(history.entries().at(-1)?.text.startsWith("5")).toBe(true);
  });

  it("works without a home", async () => {
    const history = await opened(null);
    history.add(entry("one"));
    history.add(entry("one"));
    expect(history.entries()).toEqual([entry("one")]);
  });
});
