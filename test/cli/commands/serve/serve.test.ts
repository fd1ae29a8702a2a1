import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { freshHome } from "../../../helpers/reprise.ts";

const TOKEN = "secret-token-0123456789";
const READ_TOKEN = "reads-0123456789";

it("[CLI-49] [PERMISSION-30] [PAGE-7] serve prints its address, database, token file, page and version, and exits with 0 when asked to stop", async () => {
  const home = freshHome();
  const tokens = new Set<string>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const service = home.start(["serve", "--port", "0"]);
    const [, url] = await service.waitFor(
      /^listening on (http:\/\/127\.0\.0\.1:\d+)\ndatabase (.+)\ntoken file (.+)\npage (.+)\nversion (.+)\n/,
    );
    const [page = ""] = service.stdout().match(/^page .*$/m) ?? [];
    const [, code] = /#code=([\w-]{22}) \(logs in once, within 5 minutes\)$/.exec(page) ?? [];
    expect(page).toContain(`page ${url}/#code=`);
    expect(service.stdout().split("\n").slice(1)).toEqual([
      `database ${home.database}`,
      `token file ${home.home}/.local/state/reprise/token`,
      page,
      `version ${(await home.call(["--version"])).stdout.trim()}`,
      "",
    ]);
    tokens.add(readFileSync(join(home.home, ".local/state/reprise/token"), "utf8"));
    const login = await fetch(`${url}/page/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-reprise-page": "1", origin: url ?? "" },
      body: JSON.stringify({ code }),
    });
    expect(await login.json()).toMatchObject({ role: "owner" });
    // an open stream holds up nobody
    const created = await fetch(`${url}/api/sessions`, { method: "POST" });
    const { id } = (await created.json()) as { id: string };
    const stream = await fetch(`${url}/api/sessions/${id}/stream`);
    expect(stream.status).toBe(200);
    expect(await service.stop(signal)).toMatchObject({ code: 0, signal: null, stderr: "" });
    await expect(stream.text()).rejects.toThrow("terminated");
  }
  expect(tokens.size).toBe(1);
});

it("[CLI-51] [PAGE-7] [PAGE-9] serve takes the token from the environment or a file and never prints it", async () => {
  const home = freshHome();
  const file = join(home.home, "token");
  writeFileSync(file, `${TOKEN}\n`);
  const readFile = join(home.home, "read-token");
  writeFileSync(readFile, `${READ_TOKEN}\n`);
  for (const [args, env] of [
    [["--token-file", file, "--read-token-file", readFile], { REPRISE_TOKEN: "another" }],
    [["--read-token-file", readFile], { REPRISE_TOKEN: TOKEN }],
  ] as const) {
    const service = home.start(["serve", "--port", "0", "--host", "0.0.0.0", "--log", ...args], {
      env,
    });
    const [, port] = await service.waitFor(/listening on http:\/\/\S+:(\d+)/);
    const status = async (authorization: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/api/sessions`, { headers: { authorization } })).status;
    expect(await status(`Bearer ${TOKEN}`)).toBe(200);
    expect(await status("Bearer another")).toBe(401);
    expect(await status(`Bearer ${READ_TOKEN}`)).toBe(200);
    const { stdout, stderr, code } = await service.stop("SIGTERM");
    expect(code).toBe(0);
    expect(
      stderr
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { event: string }).event),
    ).toEqual(["started", "request", "request", "request", "stopping", "stopped"]);
    // no terminal reads this: an address with a code would be in a log
    expect(stdout).not.toContain("#code=");
    expect(stdout + stderr).not.toContain(TOKEN);
    expect(stdout + stderr).not.toContain(READ_TOKEN);
  }
});

it("[CLI-50] serve refuses what would be unsafe or cannot work, in one sentence", async () => {
  const home = freshHome();
  const empty = join(home.home, "empty");
  writeFileSync(empty, "\n");
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const port = String((taken.address() as AddressInfo).port);
  const refusals: [string[], Record<string, string>, number, string][] = [
    [["--host", "0.0.0.0"], {}, 2, "config_invalid"],
    [["--host", "::"], {}, 2, "config_invalid"],
    [["--host", "0.0.0.0"], { REPRISE_TOKEN: "" }, 2, "config_invalid"],
    [[], { REPRISE_TOKEN: "with a space" }, 2, "config_invalid"],
    [["--token-file", empty], {}, 2, "config_invalid"],
    [["--token-file", join(home.home, "missing")], { REPRISE_TOKEN: TOKEN }, 2, "config_invalid"],
    [["--port", port], {}, 1, "address_unavailable"],
  ];
  for (const [args, env, code, name] of refusals) {
    const refused = await home.call(["serve", "--port", "0", ...args], { env });
    expect({ args, code: refused.code, stdout: refused.stdout }).toEqual({
      args,
      code,
      stdout: "",
    });
    expect(refused.stderr).toMatch(new RegExp(`^reprise: [^\\n]+ \\[${name}\\]\\n$`));
    expect(refused.stderr).not.toContain(TOKEN);
  }
});

it("[CLI-66] serve reads a folder's schemas only with --project, never those of its working folder", async () => {
  const home = freshHome();
  mkdirSync(join(home.project, ".reprise/schemas"), { recursive: true });
  const schema = { $id: "evil/x@1", type: "object" };
  writeFileSync(join(home.project, ".reprise/schemas/x.json"), JSON.stringify(schema));
  const served = async (args: readonly string[], cwd: string): Promise<string> => {
    const service = home.start(["serve", "--port", "0", ...args], { cwd });
    const [, url] = await service.waitFor(/^listening on (.+)\n/);
    const answer = await (await fetch(`${url}/api/artifacts/schemas`)).text();
    await service.stop("SIGTERM");
    return answer;
  };
  expect(await served([], home.project)).not.toContain("evil/x@1");
  expect(await served(["--project", home.project], home.home)).toContain("evil/x@1");
  expect((await home.call(["serve", "--port", "0", "--project", "nowhere"])).code).toBe(2);
});
