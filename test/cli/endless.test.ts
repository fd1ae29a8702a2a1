import { describe, expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { testSize } from "../helpers/size.ts";

const ONE_LINE =
  /^(?:note: .*\n)*reprise: The output could not be written: no space is left on the device\. .* \[output_failed\]\n(?:Resume with: .*\n)?$/;

/** Commands of each kind. */
const COMMANDS = testSize("endless-files");

describe("standard output that cannot be written", () => {
  const ENDING = [
    ["--version"],
    ["doctor"],
    ["-p", "hello"],
    ["--help"],
    ["permission", "list"],
    ["sessions", "list", "--state", "active"],
  ];

  it.each(ENDING.slice(0, COMMANDS))(
    "[CLI-281] is reported in one line, with exit code 1: %s %s",
    async (...args) => {
      const home = freshHome();
      await home.call(["-p", "hello"]);
      const { code, stderr } = await home.startShell(`reprise ${args.join(" ")} >/dev/full`)
        .finished;
      expect(stderr).toMatch(ONE_LINE);
      expect(code).toBe(1);
    },
  );

  it("[CLI-281] is a JSON document if JSON was asked for", async () => {
    const home = freshHome();
    const shell = home.startShell("reprise sessions list --json >/dev/full");
    const { code, stderr } = await shell.finished;
    expect(JSON.parse(stderr)).toEqual({
      code: "output_failed",
      detail: expect.stringContaining("no space is left on the device"),
    });
    expect(code).toBe(1);
  });

  it("[CLI-281] leaves the exit code as it is if it is standard error", async () => {
    const home = freshHome();
    const run = async (command: string): Promise<number | null> =>
      (await home.startShell(`reprise ${command} 2>/dev/full`).finished).code;
    expect(await run("sessions show abcdef")).toBe(3);
    expect(await run("-p hello")).toBe(0);
    expect(await run("--nothing")).toBe(2);
  });
});

describe("a file without an end", () => {
  const READING = [
    ["sessions import /dev/zero", 1, "malformed_json"],
    ["plan validate /dev/zero", 1, "file_unreadable"],
    ["-p - </dev/zero", 2, "body_too_large"],
    ["sessions import /dev/urandom", 1, "malformed_json"],
    ["sessions import - </dev/zero", 1, "malformed_json"],
    ["threads import /dev/zero", 1, "malformed_json"],
    ["serve --token-file /dev/zero", 2, "config_invalid"],
    ["--config /dev/zero", 2, ""],
  ] as const;

  it.each(READING.slice(0, COMMANDS))(
    "[CLI-282] is not read to its end: %s",
    async (command, exit, said) => {
      const { code, stderr, stdout } = await freshHome().startShell(`reprise ${command}`).finished;
      expect([code, stderr + stdout]).toEqual([exit, expect.stringContaining(said)]);
    },
  );

  it("[CLI-282] cannot be the address of a database", async () => {
    const home = freshHome({ REPRISE_DATABASE_FILE: "/dev/zero" });
    const { code, stderr } = await home.run(["sessions", "list"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("larger than 64 KiB")]);
  });

  it("[CLI-282] is too large for an export", async () => {
    const { code, stderr } = await freshHome().startShell(
      "yes 12345678 | reprise sessions import -",
    ).finished;
    expect([code, stderr]).toEqual([2, expect.stringContaining("body_too_large")]);
  });
});
