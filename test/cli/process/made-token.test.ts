import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { geteuid } from "node:process";

import { describe, expect, it } from "vitest";

import { makeToken, readMadeToken } from "../../../src/cli/process/made-token.ts";
import { createClient } from "../../../src/client/client.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const FORM = /^[0-9a-f]{64}$/;

const fileIn = (home: Home): string => join(home.home, ".local/state/reprise/token");

async function serve(home: Home, args: readonly string[] = []) {
  const service = home.start(["serve", "--port", "0", ...args]);
  await service.waitFor(/^version .+\n/m);
  const [, url = ""] = /^listening on (\S+)$/m.exec(service.stdout()) ?? [];
  return { service, url };
}

interface DoctorDocument {
  readonly checks: readonly { readonly name: string; status: string; sentence: string }[];
}

async function doctorOn(home: Home) {
  const { checks } = await home.json<DoctorDocument>(["doctor", "--json"]);
  return checks.find(({ name }) => name === "token");
}

it("[PERMISSION-30] [PERMISSION-31] [PERMISSION-34] serve makes a token that its user's clients send, keeps it, and shows it nowhere", async () => {
  const home = freshHome();
  const file = fileIn(home);
  const before = await doctorOn(home);
  expect(before).toMatchObject({ status: "ok" });
  expect(before?.sentence).toContain(`makes it in ${file}`);
  const first = await serve(home, ["--log", "--jobs", "0"]);
  const text = readFileSync(file, "utf8");
  const token = text.trim();
  expect(token).toMatch(FORM);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(first.service.stdout()).toContain(`\ntoken file ${file}\n`);

  const client = createClient({ baseUrl: first.url, token });
  const without = createClient({ baseUrl: first.url });
  const { id } = await without.createSession();
  await expect(without.queueExchange(id, "hello")).rejects.toMatchObject({
    code: "token_required",
  });
  await expect(without.patchSession(id, { name: "x" })).rejects.toMatchObject({ status: 403 });
  const wrong = createClient({ baseUrl: first.url, token: `${token}0` });
  const refusal: unknown = await wrong.getSession(id).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "unauthorized" });
  expect(await client.queueExchange(id, "hello")).toMatchObject({ n: 1, state: "queued" });
  const shown = [
    JSON.stringify(await client.getSession(id)),
    JSON.stringify(await client.checkService()),
    await (await fetch(`${first.url}/openapi.json`)).text(),
    String(refusal),
  ];
  const { stdout, stderr } = await first.service.stop("SIGTERM");
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(readdirSync(dirname(file)).sort()).toEqual(["services", "token"]);
  expect(readdirSync(join(dirname(file), "services"))).toEqual([]);

  const doctor = await doctorOn(home);
  expect(doctor).toMatchObject({ status: "ok" });
  expect(doctor?.sentence).toContain(file);
  const exported = (await home.call(["sessions", "export", id])).stdout;
  const stored = readdirSync(dirname(home.database)).map((name) =>
    readFileSync(join(dirname(home.database), name), "latin1"),
  );
  for (const each of [...shown, stdout, stderr, ...stored, exported, JSON.stringify(doctor)]) {
    expect(each).not.toContain(token);
  }
});

it("[PERMISSION-30] of processes that make it at once, all get the same", async () => {
  const file = join(temporaryFolder(), "state/reprise/token");
  const made = await Promise.all(Array.from({ length: 20 }, () => makeToken(file)));
  expect(new Set(made).size).toBe(1);
  expect(made[0]).toBe(await readMadeToken(file));
  expect(readdirSync(dirname(file))).toEqual(["token"]);
});

describe("a file that is not as Reprise made it", () => {
  const TEXT = `${"0".repeat(64)}\n`;
  const write = (file: string, text = TEXT, mode = 0o600): void => {
    writeFileSync(file, text, { mode });
    chmodSync(file, mode);
  };

  it.each<[what: string, says: string, plant: (file: string) => void]>([
    ["a link", "is a link", (file) => (write(`${file}2`), symlinkSync(`${file}2`, file))],
    ["readable by others", "read or written by others", (file) => write(file, TEXT, 0o640)],
    ["writable by others", "read or written by others", (file) => write(file, TEXT, 0o602)],
    ["empty", "does not hold a token", (file) => write(file, "")],
    ["short", "does not hold a token", (file) => write(file, "0\n")],
    ["long", "does not hold a token", (file) => write(file, TEXT + TEXT)],
    [
      "no hexadecimal number",
      "does not hold a token",
      (file) => write(file, `${"g".repeat(64)}\n`),
    ],
    ["a folder", "is not a file", (file) => mkdirSync(file)],
    ["a pipe", "is not a file", (file) => execFileSync("mkfifo", ["-m", "600", file])],
  ])("[PERMISSION-32] %s: it is not used", async (_, says, plant) => {
    const file = join(temporaryFolder(), "token");
    plant(file);
    for (const use of [readMadeToken, makeToken]) {
      await expect(use(file)).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining(says) as string,
      });
    }
  });

  it.runIf(geteuid?.() === 0)("[PERMISSION-32] another user's: it is not used", async () => {
    const file = join(temporaryFolder(), "token");
    write(file);
    chownSync(file, 65_534, 65_534);
    await expect(makeToken(file)).rejects.toThrow("belongs to another user");
  });

  it("[PERMISSION-32] [PERMISSION-33] serve says so, starts, and offers the open calls", async () => {
    const home = freshHome();
    const file = fileIn(home);
    mkdirSync(dirname(file), { recursive: true });
    write(file, TEXT, 0o644);
    const { service, url } = await serve(home);
    expect(service.stdout()).not.toContain("token");
    const client = createClient({ baseUrl: url });
    const { id } = await client.createSession();
    await expect(client.deleteSession(id)).rejects.toMatchObject({ code: "token_required" });
    const stolen = createClient({ baseUrl: url, token: TEXT.trim() });
    await expect(stolen.deleteSession(id)).rejects.toMatchObject({ code: "token_required" });
    const { stderr, code } = await service.stop("SIGTERM");
    expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 0, lines: 1 });
    expect(stderr).toMatch(/^[^\n]+"event":"notice"[^\n]+\n$/);
    expect(stderr).toContain("read or written by others");
    expect(await doctorOn(home)).toMatchObject({ status: "warning" });
  });
});

it("[PERMISSION-33] [HTTP-232] is not made if it has no place, and other addresses stay closed", async () => {
  const home = freshHome();
  writeFileSync(join(home.home, "file"), "");
  await expect(makeToken(join(home.home, "file/reprise/token"))).rejects.toMatchObject({
    code: "config_invalid",
  });
  await makeToken(fileIn(home));
  const refused = await home.call(["serve", "--port", "0", "--host", "0.0.0.0"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  rmSync(fileIn(home));
  await home.call(["serve", "--port", "0", "--host", "0.0.0.0"]);
  expect(await readMadeToken(fileIn(home))).toBeNull();
});

it("[PERMISSION-35] no file tool reads or changes the token, or anything else of Reprise's folders", async () => {
  const home = freshHome();
  for (const folder of [".local/state/reprise", ".config/reprise", ".local/share/reprise"]) {
    mkdirSync(join(home.home, folder), { recursive: true });
    for (const name of ["token", "trust.json", "new/file"]) {
      for (const tool of ["read_file", "write_file", "edit_file"]) {
        const call = `${tool}(${folder}/${name})`;
        const explained = await home.json<{ effect: string }>(
          ["permission", "explain", call, "--json"],
          { cwd: home.home },
        );
        expect(explained.effect, call).toBe("deny");
      }
    }
  }
});
